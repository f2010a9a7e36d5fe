! SPDX-License-Identifier: BSD-3-Clause
!> The interfaces of glue.h, references to its objects, and texts and arguments for its calls.
module bisai_glue
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int, c_int32_t, c_int64_t, c_double, c_char, &
    c_null_ptr, c_null_char
  implicit none
  private :: c_ptr, c_int, c_int32_t, c_int64_t, c_double, c_char, c_null_ptr, c_null_char

  !> as bisai_f_report
  integer, parameter :: text_size = 2048, reason_size = 512

  type, bind(c) :: report_in_c
    integer(c_int32_t) :: iterations, levels
    real(c_double) :: relative_residual, setup_seconds, solve_seconds, memory_bytes
    integer(c_int32_t) :: preconditioner_length, solver_length, reason_length
    character(kind=c_char) :: preconditioner(text_size), solver(text_size), reason(reason_size)
  end type

  type, bind(c) :: choice_in_c
    real(c_double) :: tolerance
    integer(c_int) :: max_iterations, guess
    integer(c_int32_t) :: null_count
    type(c_ptr) :: null_vectors
  end type

  !> One of the variables that refer to an object of glue.c.
  type :: reference
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: share
    procedure :: drop
    final :: release
  end type

  interface
    subroutine bisai_f_share(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
    subroutine bisai_f_release(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
    integer(c_int) function bisai_f_fail(handle, status, text) bind(c)
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: handle
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: text(*)
    end function
    integer(c_int) function bisai_f_message(handle, size, text) bind(c)
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: handle
      integer(c_int), value :: size
      character(kind=c_char), intent(out) :: text(*)
    end function
    integer(c_int) function bisai_f_status(status, size, text) bind(c)
      import :: c_int, c_char
      integer(c_int), value :: status, size
      character(kind=c_char), intent(out) :: text(*)
    end function
    integer(c_int) function bisai_f_context(backend, threads, handle) bind(c)
      import :: c_ptr, c_int, c_char
      character(kind=c_char), intent(in) :: backend(*)
      integer(c_int), value :: threads
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_int) function bisai_f_bcsr(context, block_rows, block_cols, block_size, row_ptr, &
      col_idx, values, handle) bind(c)
      import :: c_ptr, c_int, c_int32_t, c_double
      type(c_ptr), value :: context
      integer(c_int32_t), value :: block_rows, block_cols, block_size
      integer(c_int32_t), intent(in) :: row_ptr(*), col_idx(*)
      real(c_double), intent(in) :: values(*)
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_int) function bisai_f_csr(context, rows, row_ptr, col_idx, values, block_size, &
      fields, node, handle) bind(c)
      import :: c_ptr, c_int, c_int32_t, c_double
      type(c_ptr), value :: context
      integer(c_int32_t), value :: rows, block_size, fields
      integer(c_int32_t), intent(in) :: row_ptr(*), col_idx(*)
      integer(c_int32_t), intent(in), optional :: node(*)
      real(c_double), intent(in) :: values(*)
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_int) function bisai_f_update_matrix(matrix, values) bind(c)
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: matrix
      real(c_double), intent(in) :: values(*)
    end function
    integer(c_int) function bisai_f_multiply(matrix, x, y) bind(c)
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: matrix
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end function
    integer(c_int64_t) function bisai_f_rows(handle) bind(c)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: handle
    end function
    integer(c_int64_t) function bisai_f_columns(matrix) bind(c)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: matrix
    end function
    integer(c_int64_t) function bisai_f_entries(matrix) bind(c)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: matrix
    end function
    integer(c_int32_t) function bisai_f_block_size(matrix) bind(c)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: matrix
    end function
    integer(c_int) function bisai_f_precond(matrix, text, null_vectors, null_count, handle) bind(c)
      import :: c_ptr, c_int, c_int32_t, c_char
      type(c_ptr), value :: matrix, null_vectors
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int32_t), value :: null_count
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_int) function bisai_f_update_precond(precond, matrix) bind(c)
      import :: c_ptr, c_int
      type(c_ptr), value :: precond, matrix
    end function
    integer(c_int) function bisai_f_apply(precond, v, z) bind(c)
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: precond
      real(c_double), intent(in) :: v(*)
      real(c_double), intent(inout) :: z(*)
    end function
    integer(c_int) function bisai_f_precond_report(precond, report) bind(c)
      import :: c_ptr, c_int, report_in_c
      type(c_ptr), value :: precond
      type(report_in_c), intent(inout) :: report
    end function
    integer(c_int) function bisai_f_solver(matrix, text, tolerance, max_iterations, guess, handle) &
      bind(c)
      import :: c_ptr, c_int, c_double, c_char
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(in) :: text(*)
      real(c_double), value :: tolerance
      integer(c_int), value :: max_iterations, guess
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_int) function bisai_f_solve(solver, matrix, precond, b, x, report) bind(c)
      import :: c_ptr, c_int, c_double, report_in_c
      type(c_ptr), value :: solver, matrix, precond
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      type(report_in_c), intent(inout) :: report
    end function
    integer(c_int) function bisai_f_solve_once(matrix, b, x, precond, solver, choice, report) &
      bind(c)
      import :: c_ptr, c_int, c_double, c_char, choice_in_c, report_in_c
      type(c_ptr), value :: matrix
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      character(kind=c_char), intent(in) :: precond(*), solver(*)
      type(choice_in_c), intent(in) :: choice
      type(report_in_c), intent(inout) :: report
    end function
  end interface
contains

  !> Refers to what another one refers to.
  subroutine share(left, right)
    class(reference), intent(inout) :: left
    type(reference), intent(in) :: right
    call bisai_f_share(right%handle)
    call bisai_f_release(left%handle)
    left%handle = right%handle
  end subroutine

  !> No longer refers to an object.
  subroutine drop(self)
    class(reference), intent(inout) :: self
    call bisai_f_release(self%handle)
    self%handle = c_null_ptr
  end subroutine

  impure elemental subroutine release(self)
    type(reference), intent(inout) :: self
    call self%drop()
  end subroutine

  function to_text(length, letters) result(text)
    integer, intent(in) :: length
    character(kind=c_char), intent(in) :: letters(:)
    character(:), allocatable :: text
    integer :: i
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  function to_c(text) result(with_null)
    character(*), intent(in) :: text
    character(len_trim(text) + 1, kind=c_char) :: with_null
    with_null = trim(text)//c_null_char
  end function

  type(report_in_c) function empty_report() result(report)
    report%iterations = 0
    report%levels = 0
    report%relative_residual = 0
    report%setup_seconds = 0
    report%solve_seconds = 0
    report%memory_bytes = 0
    report%preconditioner_length = 0
    report%solver_length = 0
    report%reason_length = 0
  end function

  type(choice_in_c) function choice_of(tolerance, max_iterations, guess) result(choice)
    real(c_double), intent(in), optional :: tolerance
    integer, intent(in), optional :: max_iterations
    logical, intent(in), optional :: guess
    choice%tolerance = 1e-8_c_double
    choice%max_iterations = 10000
    choice%guess = 0
    choice%null_count = 0
    choice%null_vectors = c_null_ptr
    if (present(tolerance)) choice%tolerance = tolerance
    if (present(max_iterations)) choice%max_iterations = int(max_iterations, c_int)
    if (present(guess)) choice%guess = merge(1_c_int, 0_c_int, guess)
  end function

  integer(c_int32_t) function count_of(copy)
    real(c_double), allocatable, intent(in) :: copy(:, :)
    count_of = 0
    if (allocated(copy)) count_of = int(size(copy, 1), c_int32_t)
  end function

end module bisai_glue
