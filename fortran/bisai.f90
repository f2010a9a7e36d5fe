! SPDX-License-Identifier: BSD-3-Clause
!> bisai for Fortran: preconditioners and solvers for block-sparse linear systems.
!!
!!     use bisai
!!     type(bisai_context) :: context
!!     type(bisai_matrix) :: A
!!     type(bisai_preconditioner) :: M
!!     type(bisai_solver) :: solver
!!     integer :: status
!!     call context%create(status)
!!     call A%create_blocks(context, row_ptr, col_idx, values, status)   ! values(bs, bs, blocks)
!!     call M%create(A, 'mg:cycle=w', status)
!!     call solver%create(A, 'gmres:restart=60', status)
!!     call solver%solve(A, b, x, status, M)
!!     if (status /= bisai_ok) print *, context%message()
!!
!! row_ptr and col_idx count from 1, and block p is values(:, :, p). Texts of preconditioners and
!! solvers are those of the program: see the guide, "All methods". Each call returns a status, which
!! is bisai_ok or another bisai_… below; the message of the last failure belongs to the context, and
!! every object made with it returns it. Messages count rows and block rows from 0.
!!
!! Assignment shares an object. An object ends with its last variable, or by destroy(), and keeps
!! alive what it was made of. One thread at a time uses a context and the objects made with it.
module bisai
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_associated, c_loc, c_int, c_int32_t, &
    c_int64_t, c_double, c_char, c_null_char
  use bisai_glue
  implicit none
  private

  integer, parameter, public :: bisai_ok = 0
  integer, parameter, public :: bisai_invalid_argument = 1
  integer, parameter, public :: bisai_out_of_memory = 2
  integer, parameter, public :: bisai_index_overflow = 3
  integer, parameter, public :: bisai_invalid_structure = 4
  integer, parameter, public :: bisai_not_finite = 5
  integer, parameter, public :: bisai_missing_diagonal = 6
  integer, parameter, public :: bisai_singular_block = 7
  integer, parameter, public :: bisai_overflow = 8
  integer, parameter, public :: bisai_not_ready = 9
  integer, parameter, public :: bisai_unavailable = 10
  integer, parameter, public :: bisai_unsupported = 11
  integer, parameter, public :: bisai_io_error = 12
  integer, parameter, public :: bisai_parse_error = 13
  integer, parameter, public :: bisai_max_iterations = 14
  integer, parameter, public :: bisai_stagnated = 15
  integer, parameter, public :: bisai_breakdown = 16
  integer, parameter, public :: bisai_stopped = 17
  integer, parameter, public :: bisai_callback_failed = 18
  integer, parameter, public :: bisai_device_error = 19
  integer, parameter, public :: bisai_external_error = 20
  integer, parameter, public :: bisai_not_symmetric = 21
  integer, parameter, public :: bisai_not_linear = 22

  public :: bisai_solve, bisai_status_text

  !> What all objects have.
  type, abstract :: object
    private
    type(reference) :: ref
  contains
    !> true if create has succeeded
    procedure :: is_created
    !> the message of the last failure in the context
    procedure :: message
    !> this variable no longer refers to the object
    procedure :: destroy
  end type

  !> A backend with its threads.
  type, extends(object), public :: bisai_context
  contains
    procedure, private :: share_context
    generic :: assignment(=) => share_context
    procedure :: create => context_create
  end type

  !> A matrix of dense blocks; it copies the caller's arrays.
  type, extends(object), public :: bisai_matrix
  contains
    procedure, private :: share_matrix
    generic :: assignment(=) => share_matrix
    procedure :: create_blocks
    procedure :: create_csr
    procedure :: update => matrix_update
    procedure :: multiply
    procedure :: rows => object_rows
    procedure :: columns
    procedure :: block_size
  end type

  !> An approximation M of a matrix.
  type, extends(object), public :: bisai_preconditioner
  contains
    procedure, private :: share_preconditioner
    generic :: assignment(=) => share_preconditioner
    procedure :: create => precond_create
    procedure :: update => precond_update
    procedure :: apply
    procedure :: report => precond_report
  end type

  !> A Krylov method with all its memory.
  type, extends(object), public :: bisai_solver
  contains
    procedure, private :: share_solver
    generic :: assignment(=) => share_solver
    procedure :: create => solver_create
    procedure :: solve
  end type

  !> How a set-up or a solve went. What does not belong to the call is 0 or "".
  type, public :: bisai_report
    integer :: iterations = 0
    !> of multigrid
    integer :: levels = 0
    !> ‖b − A x‖/‖b‖
    real(c_double) :: relative_residual = 0
    real(c_double) :: setup_seconds = 0, solve_seconds = 0
    !> bytes of the preconditioner, after solve of the solver
    real(c_double) :: memory_bytes = 0
    !> texts that give the same again; of a preconditioner its description
    character(:), allocatable :: preconditioner, solver
    !> why the solve ended, or what was chosen and why
    character(:), allocatable :: reason
  end type

contains

  ! --- objects ---

  subroutine share_context(left, right)
    class(bisai_context), intent(inout) :: left
    type(bisai_context), intent(in) :: right
    call left%ref%share(right%ref)
  end subroutine

  subroutine share_matrix(left, right)
    class(bisai_matrix), intent(inout) :: left
    type(bisai_matrix), intent(in) :: right
    call left%ref%share(right%ref)
  end subroutine

  subroutine share_preconditioner(left, right)
    class(bisai_preconditioner), intent(inout) :: left
    type(bisai_preconditioner), intent(in) :: right
    call left%ref%share(right%ref)
  end subroutine

  subroutine share_solver(left, right)
    class(bisai_solver), intent(inout) :: left
    type(bisai_solver), intent(in) :: right
    call left%ref%share(right%ref)
  end subroutine

  logical function is_created(self)
    class(object), intent(in) :: self
    is_created = c_associated(self%ref%handle)
  end function

  subroutine destroy(self)
    class(object), intent(inout) :: self
    call self%ref%drop()
  end subroutine

  function message(self) result(text)
    class(object), intent(in) :: self
    character(:), allocatable :: text
    character(kind=c_char) :: letters(reason_size)
    integer :: length
    length = bisai_f_message(self%ref%handle, size(letters), letters)
    text = to_text(length, letters)
  end function

  !> The text of a status, for example "singular diagonal block".
  function bisai_status_text(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    character(kind=c_char) :: letters(reason_size)
    integer :: length
    length = bisai_f_status(int(status, c_int), size(letters), letters)
    text = to_text(length, letters)
  end function

  !> Replaces what a variable refers to by a new object, after a success.
  subroutine take(self, status, made)
    class(object), intent(inout) :: self
    integer, intent(in) :: status
    type(c_ptr), intent(in) :: made
    if (status /= bisai_ok) return
    call self%ref%drop()
    self%ref%handle = made
  end subroutine

  !> Records what is wrong with the arguments of a call.
  integer function refuse(self, text) result(status)
    class(object), intent(in) :: self
    character(*), intent(in) :: text
    status = bisai_f_fail(self%ref%handle, int(bisai_invalid_argument, c_int), to_c(text))
  end function

  !> Refuses an array with another number of values than is needed.
  integer function check_size(self, name, given, needed) result(status)
    class(object), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: given, needed
    character(160) :: text
    status = bisai_ok
    if (given == needed) return
    write (text, '(a, " has ", i0, " values, and ", i0, " are needed")') name, given, needed
    status = refuse(self, text)
  end function

  !> Creates a context.
  !! @param backend  'host', 'cuda' or 'auto' (default). Vectors lie in host memory
  !! @param threads  host threads; default: all processors that this process may use
  subroutine context_create(self, status, backend, threads)
    class(bisai_context), intent(inout) :: self
    integer, intent(out) :: status
    character(*), intent(in), optional :: backend
    integer, intent(in), optional :: threads
    type(c_ptr) :: made
    integer(c_int) :: count
    made = c_null_ptr
    count = 0
    if (present(threads)) count = int(threads, c_int)
    if (present(backend)) then
      status = bisai_f_context(to_c(backend), count, made)
    else
      status = bisai_f_context(to_c('auto'), count, made)
    end if
    call take(self, status, made)
  end subroutine

  ! --- matrices ---

  !> Creates a matrix of blocks. Each block row has its blocks in any order of columns, but update()
  !! needs rows whose columns ascend.
  !! @param row_ptr  block rows + 1 numbers; row_ptr(1) = 1
  !! @param col_idx  block columns, from 1
  !! @param values   (bs, bs, blocks): block p is values(:, :, p), bs from 1 to 32
  !! @param block_columns  default: as many as block rows
  subroutine create_blocks(self, context, row_ptr, col_idx, values, status, block_columns)
    class(bisai_matrix), intent(inout) :: self
    class(bisai_context), intent(in) :: context
    integer(c_int32_t), intent(in), contiguous :: row_ptr(:), col_idx(:)
    real(c_double), intent(in), contiguous :: values(:, :, :)
    integer, intent(out) :: status
    integer, intent(in), optional :: block_columns
    type(c_ptr) :: made
    integer(c_int32_t) :: rows, cols
    made = c_null_ptr
    rows = int(size(row_ptr), c_int32_t) - 1
    cols = rows
    if (present(block_columns)) cols = int(block_columns, c_int32_t)
    status = check_structure(context, row_ptr, col_idx, size(values, 3, c_int64_t))
    if (status == bisai_ok .and. size(values, 1) /= size(values, 2)) &
      status = refuse(context, 'values: blocks are square, as values(bs, bs, blocks)')
    if (status == bisai_ok) status = bisai_f_bcsr(context%ref%handle, rows, cols, &
      int(size(values, 1), c_int32_t), row_ptr, col_idx, values, made)
    call take(self, status, made)
  end subroutine

  !> Creates a square matrix from the rows of its entries.
  !! @param row_ptr     rows + 1 numbers; row_ptr(1) = 1
  !! @param col_idx     columns, from 1, in any order
  !! @param block_size  1 to 32; default: the library chooses it, and finds nodes
  !! @param fields      the unknowns of a node, if they are stored field by field
  !! @param node        the node of each row, from 1, in any numbering
  subroutine create_csr(self, context, row_ptr, col_idx, values, status, block_size, fields, node)
    class(bisai_matrix), intent(inout) :: self
    class(bisai_context), intent(in) :: context
    integer(c_int32_t), intent(in), contiguous :: row_ptr(:), col_idx(:)
    real(c_double), intent(in), contiguous :: values(:)
    integer, intent(out) :: status
    integer, intent(in), optional :: block_size, fields
    integer(c_int32_t), intent(in), contiguous, optional :: node(:)
    type(c_ptr) :: made
    integer(c_int32_t) :: rows, bs, count
    made = c_null_ptr
    rows = int(size(row_ptr), c_int32_t) - 1
    bs = 0
    count = 0
    if (present(block_size)) bs = int(block_size, c_int32_t)
    if (present(fields)) count = int(fields, c_int32_t)
    status = check_structure(context, row_ptr, col_idx, size(values, kind=c_int64_t))
    if (status == bisai_ok .and. present(node)) &
      status = check_size(context, 'node', size(node, kind=c_int64_t), int(rows, c_int64_t))
    if (status == bisai_ok .and. present(node)) then
      status = bisai_f_csr(context%ref%handle, rows, row_ptr, col_idx, values, bs, count, node, &
        made)
    else if (status == bisai_ok) then
      status = bisai_f_csr(context%ref%handle, rows, row_ptr, col_idx, values, bs, count, &
        handle=made)
    end if
    call take(self, status, made)
  end subroutine

  integer function check_structure(context, row_ptr, col_idx, values) result(status)
    class(bisai_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: row_ptr(:), col_idx(:)
    integer(c_int64_t), intent(in) :: values
    integer(c_int64_t) :: entries
    if (size(row_ptr) < 1) then
      status = refuse(context, 'row_ptr is empty, and it has one number more than there are rows')
      return
    end if
    entries = int(row_ptr(size(row_ptr)), c_int64_t) - 1
    status = check_size(context, 'col_idx', size(col_idx, kind=c_int64_t), entries)
    if (status == bisai_ok) status = check_size(context, 'values', values, entries)
  end function

  !> Takes new values on the same pattern, with as many values and in the order of creation.
  subroutine matrix_update(self, values, status)
    class(bisai_matrix), intent(in) :: self
    real(c_double), intent(in), contiguous, target :: values(..)
    integer, intent(out) :: status
    status = check_size(self, 'values', size(values, kind=c_int64_t), &
      bisai_f_entries(self%ref%handle))
    if (status == bisai_ok .and. .not. self%is_created()) status = bisai_invalid_argument
    if (status /= bisai_ok) return
    select rank (values)
    rank (1)
      status = bisai_f_update_matrix(self%ref%handle, values)
    rank (3)
      status = bisai_f_update_matrix(self%ref%handle, values)
    rank default
      status = refuse(self, 'values has another rank than at creation')
    end select
  end subroutine

  !> y ← A x. x has columns() values, and y has rows().
  subroutine multiply(self, x, y, status)
    class(bisai_matrix), intent(in) :: self
    real(c_double), intent(in), contiguous :: x(:)
    real(c_double), intent(inout), contiguous :: y(:)
    integer, intent(out) :: status
    status = check_size(self, 'x', size(x, kind=c_int64_t), bisai_f_columns(self%ref%handle))
    if (status == bisai_ok) &
      status = check_size(self, 'y', size(y, kind=c_int64_t), bisai_f_rows(self%ref%handle))
    if (status == bisai_ok .and. .not. self%is_created()) status = bisai_invalid_argument
    if (status == bisai_ok) status = bisai_f_multiply(self%ref%handle, x, y)
  end subroutine

  !> The number of values of b.
  integer(c_int64_t) function object_rows(self)
    class(bisai_matrix), intent(in) :: self
    object_rows = bisai_f_rows(self%ref%handle)
  end function

  !> The number of values of x.
  integer(c_int64_t) function columns(self)
    class(bisai_matrix), intent(in) :: self
    columns = bisai_f_columns(self%ref%handle)
  end function

  integer function block_size(self)
    class(bisai_matrix), intent(in) :: self
    block_size = bisai_f_block_size(self%ref%handle)
  end function

  ! --- preconditioners ---

  !> Copies vectors, one a column, to one row after the other.
  integer function by_rows(matrix, vectors, copy) result(status)
    class(bisai_matrix), intent(in) :: matrix
    real(c_double), intent(in), optional :: vectors(:, :)
    real(c_double), allocatable, intent(out) :: copy(:, :)
    integer :: failed
    status = bisai_ok
    if (.not. present(vectors)) return
    status = check_size(matrix, 'null_vectors: a column', size(vectors, 1, c_int64_t), &
      bisai_f_rows(matrix%ref%handle))
    if (status /= bisai_ok) return
    allocate (copy(size(vectors, 2), size(vectors, 1)), stat=failed)
    if (failed /= 0) status = bisai_out_of_memory
    if (failed == 0) copy = transpose(vectors)
  end function

  !> Sets up a preconditioner.
  !! @param text          for example 'mg:cycle=w', 'ilu:level=1' or 'auto'
  !! @param null_vectors  (rows, k): near-null-space vectors of multigrid
  subroutine precond_create(self, matrix, text, status, null_vectors)
    class(bisai_preconditioner), intent(inout) :: self
    class(bisai_matrix), intent(in) :: matrix
    character(*), intent(in) :: text
    integer, intent(out) :: status
    real(c_double), intent(in), optional :: null_vectors(:, :)
    real(c_double), allocatable, target :: copy(:, :)
    type(c_ptr) :: made, vectors
    made = c_null_ptr
    vectors = c_null_ptr
    status = bisai_invalid_argument
    if (.not. matrix%is_created()) return
    status = by_rows(matrix, null_vectors, copy)
    if (allocated(copy)) then
      if (size(copy) > 0) vectors = c_loc(copy)
    end if
    if (status == bisai_ok) status = bisai_f_precond(matrix%ref%handle, to_c(text), vectors, &
      count_of(copy), made)
    call take(self, status, made)
  end subroutine

  !> Takes new values on the same pattern, and allocates nothing.
  subroutine precond_update(self, matrix, status)
    class(bisai_preconditioner), intent(in) :: self
    class(bisai_matrix), intent(in) :: matrix
    integer, intent(out) :: status
    status = bisai_invalid_argument
    if (self%is_created() .and. matrix%is_created()) &
      status = bisai_f_update_precond(self%ref%handle, matrix%ref%handle)
  end subroutine

  !> z ← M⁻¹ v
  subroutine apply(self, v, z, status)
    class(bisai_preconditioner), intent(in) :: self
    real(c_double), intent(in), contiguous :: v(:)
    real(c_double), intent(inout), contiguous :: z(:)
    integer, intent(out) :: status
    integer(c_int64_t) :: rows
    rows = bisai_f_rows(self%ref%handle)
    status = check_size(self, 'v', size(v, kind=c_int64_t), rows)
    if (status == bisai_ok) status = check_size(self, 'z', size(z, kind=c_int64_t), rows)
    if (status == bisai_ok .and. .not. self%is_created()) status = bisai_invalid_argument
    if (status == bisai_ok) status = bisai_f_apply(self%ref%handle, v, z)
  end subroutine

  subroutine to_report(from, report)
    type(report_in_c), intent(in) :: from
    type(bisai_report), intent(out) :: report
    report%iterations = from%iterations
    report%levels = from%levels
    report%relative_residual = from%relative_residual
    report%setup_seconds = from%setup_seconds
    report%solve_seconds = from%solve_seconds
    report%memory_bytes = from%memory_bytes
    report%preconditioner = to_text(int(from%preconditioner_length), from%preconditioner)
    report%solver = to_text(int(from%solver_length), from%solver)
    report%reason = to_text(int(from%reason_length), from%reason)
  end subroutine

  !> What the preconditioner is and what its last set-up or update cost.
  subroutine precond_report(self, report, status)
    class(bisai_preconditioner), intent(in) :: self
    type(bisai_report), intent(out) :: report
    integer, intent(out) :: status
    type(report_in_c) :: r
    r = empty_report()
    status = bisai_invalid_argument
    if (self%is_created()) status = bisai_f_precond_report(self%ref%handle, r)
    call to_report(r, report)
  end subroutine

  ! --- solvers ---

  !> Reserves the memory of a method for systems of the size of a matrix.
  !! @param text            for example 'gmres:restart=60', 'cg', 'bicgstab' or 'idr:s=8'
  !! @param tolerance       of ‖b − A x‖/‖b‖; default 1e-8
  !! @param max_iterations  default 10000
  !! @param guess           .true.: solves begin with the x that is given; default .false.
  subroutine solver_create(self, matrix, text, status, tolerance, max_iterations, guess)
    class(bisai_solver), intent(inout) :: self
    class(bisai_matrix), intent(in) :: matrix
    character(*), intent(in) :: text
    integer, intent(out) :: status
    real(c_double), intent(in), optional :: tolerance
    integer, intent(in), optional :: max_iterations
    logical, intent(in), optional :: guess
    type(choice_in_c) :: choice
    type(c_ptr) :: made
    made = c_null_ptr
    status = bisai_invalid_argument
    if (.not. matrix%is_created()) return
    choice = choice_of(tolerance, max_iterations, guess)
    status = bisai_f_solver(matrix%ref%handle, to_c(text), choice%tolerance, &
      choice%max_iterations, choice%guess, made)
    call take(self, status, made)
  end subroutine

  integer function check_vectors(matrix, b, x) result(status)
    class(bisai_matrix), intent(in) :: matrix
    real(c_double), intent(in) :: b(:), x(:)
    integer(c_int64_t) :: rows
    rows = bisai_f_rows(matrix%ref%handle)
    status = check_size(matrix, 'b', size(b, kind=c_int64_t), rows)
    if (status == bisai_ok) status = check_size(matrix, 'x', size(x, kind=c_int64_t), rows)
    if (status == bisai_ok .and. .not. matrix%is_created()) status = bisai_invalid_argument
  end function

  !> Solves A x = b. If the status is bisai_max_iterations, bisai_stagnated or bisai_breakdown, x is
  !! the best that was found.
  !! @param precond  default: none
  subroutine solve(self, matrix, b, x, status, precond, report)
    class(bisai_solver), intent(in) :: self
    class(bisai_matrix), intent(in) :: matrix
    real(c_double), intent(in), contiguous :: b(:)
    real(c_double), intent(inout), contiguous :: x(:)
    integer, intent(out) :: status
    class(bisai_preconditioner), intent(in), optional :: precond
    type(bisai_report), intent(out), optional :: report
    type(report_in_c) :: r
    type(c_ptr) :: m
    r = empty_report()
    m = c_null_ptr
    status = check_vectors(matrix, b, x)
    if (status == bisai_ok .and. .not. self%is_created()) &
      status = refuse(matrix, 'the solver was not created')
    if (present(precond)) then
      m = precond%ref%handle
      if (status == bisai_ok .and. .not. precond%is_created()) &
        status = refuse(matrix, 'the preconditioner was not created')
    end if
    if (status == bisai_ok) &
      status = bisai_f_solve(self%ref%handle, matrix%ref%handle, m, b, x, r)
    if (present(report)) call to_report(r, report)
  end subroutine

  !> Solves A x = b in one call.
  !! @param preconditioner  default 'auto': chosen by trials
  !! @param solver          default: chosen with 'auto', otherwise GMRES
  !! @param null_vectors, tolerance, max_iterations, guess  as for the objects
  subroutine bisai_solve(matrix, b, x, status, preconditioner, solver, null_vectors, tolerance, &
    max_iterations, guess, report)
    class(bisai_matrix), intent(in) :: matrix
    real(c_double), intent(in), contiguous :: b(:)
    real(c_double), intent(inout), contiguous :: x(:)
    integer, intent(out) :: status
    character(*), intent(in), optional :: preconditioner, solver
    real(c_double), intent(in), optional :: null_vectors(:, :)
    real(c_double), intent(in), optional :: tolerance
    integer, intent(in), optional :: max_iterations
    logical, intent(in), optional :: guess
    type(bisai_report), intent(out), optional :: report
    real(c_double), allocatable, target :: copy(:, :)
    character(:), allocatable :: precond_text, solver_text
    type(choice_in_c) :: choice
    type(report_in_c) :: r
    r = empty_report()
    precond_text = 'auto'
    solver_text = ''
    if (present(preconditioner)) precond_text = preconditioner
    if (present(solver)) solver_text = solver
    choice = choice_of(tolerance, max_iterations, guess)
    status = check_vectors(matrix, b, x)
    if (status == bisai_ok) status = by_rows(matrix, null_vectors, copy)
    choice%null_count = count_of(copy)
    if (choice%null_count > 0) choice%null_vectors = c_loc(copy)
    if (status == bisai_ok) status = bisai_f_solve_once(matrix%ref%handle, b, x, &
      to_c(precond_text), to_c(solver_text), choice, r)
    if (present(report)) call to_report(r, report)
  end subroutine

end module bisai
