! SPDX-License-Identifier: BSD-3-Clause
! The Fortran module: solutions against products that this program computes, the order in which
! objects end, and wrong use. Prints what fails, and stops with 1.
program use_bisai
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use bisai
  implicit none
  integer, parameter :: side = 12, nodes = side*side, bs = 2, rows = bs*nodes
  integer(int32) :: row_ptr(nodes + 1), col_idx(5*nodes)
  real(real64) :: values(bs, bs, 5*nodes)
  integer :: blocks, failures

  failures = 0
  call make_grid(1.0_real64)
  call blocks_are_columns_of_an_array()
  call entries_become_blocks_and_vectors_keep_their_order()
  call updates_take_new_values()
  call one_call_chooses()
  call objects_end_in_any_order()
  call near_null_vectors_are_read()
  call wrong_arrays_are_refused()
  call wrong_texts_are_refused()
  call objects_that_do_not_exist_are_refused()
  call failed_solves_say_why()
  if (failures > 0) error stop 1
  print '(a)', 'the Fortran module works'

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(2a)', 'failed: ', what
  end subroutine

  subroutine expect_ok(status, message, what)
    integer, intent(in) :: status
    character(*), intent(in) :: message, what
    call expect(status == bisai_ok, what//': '//bisai_status_text(status)//': '//message)
  end subroutine

  subroutine expect_refused(status, wanted, message, part)
    integer, intent(in) :: status, wanted
    character(*), intent(in) :: message, part
    call expect(status == wanted .and. index(message, part) > 0, &
      bisai_status_text(status)//': '//message//'; expected '//part)
  end subroutine

  ! Two unknowns a node on a square, coupled in the node and with the four neighbours.
  subroutine make_grid(factor)
    real(real64), intent(in) :: factor
    integer :: i, j, k, p
    p = 0
    do j = 1, side
      do i = 1, side
        k = i + (j - 1)*side
        row_ptr(k) = p + 1
        if (j > 1) call add(k, k - side, factor, p)
        if (i > 1) call add(k, k - 1, factor, p)
        call add(k, k, factor, p)
        if (i < side) call add(k, k + 1, factor, p)
        if (j < side) call add(k, k + side, factor, p)
      end do
    end do
    row_ptr(nodes + 1) = p + 1
    blocks = p
  end subroutine

  subroutine add(row, column, factor, p)
    integer, intent(in) :: row, column
    real(real64), intent(in) :: factor
    integer, intent(inout) :: p
    p = p + 1
    col_idx(p) = column
    values(:, :, p) = reshape([-1.0_real64, 0.25_real64, -0.125_real64, -1.5_real64], [bs, bs])
    if (row == column) &
      values(:, :, p) = reshape([9*factor, 1.0_real64, -0.5_real64, 11*factor], [bs, bs])
  end subroutine

  function times(x) result(y)
    real(real64), intent(in) :: x(rows)
    real(real64) :: y(rows)
    integer :: i, p
    y = 0
    do i = 1, nodes
      do p = row_ptr(i), row_ptr(i + 1) - 1
        y(bs*i - 1:bs*i) = y(bs*i - 1:bs*i) + &
          matmul(values(:, :, p), x(bs*col_idx(p) - 1:bs*col_idx(p)))
      end do
    end do
  end function

  function some_vector() result(x)
    real(real64) :: x(rows)
    integer :: i
    x = [(sin(0.7_real64*i) + 0.1_real64, i=1, rows)]
  end function

  subroutine new_matrix(context, matrix)
    type(bisai_context), intent(inout) :: context
    type(bisai_matrix), intent(inout) :: matrix
    integer :: status
    call context%create(status, backend='host', threads=1)
    call expect(status == bisai_ok, 'a context')
    call matrix%create_blocks(context, row_ptr, col_idx(:blocks), values(:, :, :blocks), status)
    call expect_ok(status, context%message(), 'a matrix')
  end subroutine

  subroutine blocks_are_columns_of_an_array()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix
    type(bisai_preconditioner) :: precond
    type(bisai_solver) :: solver
    type(bisai_report) :: report
    real(real64) :: x(rows), y(rows)
    integer :: status
    call new_matrix(context, matrix)
    call expect(matrix%rows() == rows, 'the rows of a matrix')
    call expect(matrix%columns() == rows, 'the columns of a matrix')
    call expect(matrix%block_size() == bs, 'the block size')
    call matrix%multiply(some_vector(), y, status)
    call expect_ok(status, context%message(), 'a product')
    call expect(maxval(abs(y - times(some_vector()))) < 1e-13_real64, 'the values of a product')
    call precond%create(matrix, 'ilu', status)
    call expect_ok(status, context%message(), 'a preconditioner')
    call precond%report(report, status)
    call expect(status == bisai_ok .and. index(report%preconditioner, 'ilu') == 1 .and. &
      report%memory_bytes > 0, 'the description of ILU: '//report%preconditioner)
    call solver%create(matrix, 'bicgstab', status, tolerance=1e-10_real64)
    call expect_ok(status, context%message(), 'a solver')
    call solver%solve(matrix, times(some_vector()), x, status, precond, report)
    call expect_ok(status, context%message(), 'a solve')
    call expect(maxval(abs(x - some_vector())) < 1e-8_real64, 'the solution')
    call expect(report%reason == 'converged' .and. report%iterations > 0, report%reason)
    x = some_vector()
    call solver%create(matrix, 'gmres', status, guess=.true.)
    call solver%solve(matrix, times(some_vector()), x, status, report=report)
    call expect(status == bisai_ok .and. report%iterations == 0, 'a solve from its solution')
  end subroutine

  ! The entries row by row, with the unknowns field by field.
  subroutine entries_of(fields, rows_from, columns, entries)
    logical, intent(in) :: fields
    integer(int32), intent(out) :: rows_from(rows + 1), columns(4*blocks)
    real(real64), intent(out) :: entries(4*blocks)
    integer :: r, i, k, p, c, q
    q = 0
    do r = 1, rows
      i = merge(modulo(r - 1, nodes) + 1, (r - 1)/bs + 1, fields)
      k = merge((r - 1)/nodes + 1, modulo(r - 1, bs) + 1, fields)
      rows_from(r) = q + 1
      do p = row_ptr(i), row_ptr(i + 1) - 1
        do c = 1, bs
          q = q + 1
          columns(q) = merge((c - 1)*nodes + col_idx(p), bs*(col_idx(p) - 1) + c, fields)
          entries(q) = values(k, c, p)
        end do
      end do
    end do
    rows_from(rows + 1) = q + 1
  end subroutine

  function by_fields(x) result(y)
    real(real64), intent(in) :: x(rows)
    real(real64) :: y(rows)
    y = reshape(transpose(reshape(x, [bs, nodes])), [rows])
  end function

  subroutine entries_become_blocks_and_vectors_keep_their_order()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix
    type(bisai_preconditioner) :: precond
    type(bisai_solver) :: solver
    integer(int32) :: rows_from(rows + 1), columns(4*blocks), node(rows)
    real(real64) :: entries(4*blocks), x(rows), y(rows), z(rows)
    integer :: status, way, i
    logical :: fields
    call context%create(status, 'host')
    do way = 1, 4
      fields = way > 1
      call entries_of(fields, rows_from, columns, entries)
      node = [(modulo(i - 1, nodes) + 1, i=1, rows)]
      if (way == 1) &
        call matrix%create_csr(context, rows_from, columns, entries, status, block_size=2)
      if (way == 2) call matrix%create_csr(context, rows_from, columns, entries, status, fields=2)
      if (way == 3) call matrix%create_csr(context, rows_from, columns, entries, status, node=node)
      if (way == 4) call matrix%create_csr(context, rows_from, columns, entries, status)
      call expect_ok(status, context%message(), 'a matrix of entries')
      call expect(way == 4 .or. matrix%block_size() == 2, 'the block size of entries')
      x = some_vector()
      z = times(some_vector())
      if (fields) x = by_fields(x)
      if (fields) z = by_fields(z)
      call matrix%multiply(x, y, status)
      call expect(status == bisai_ok .and. maxval(abs(y - z)) < 1e-13_real64, 'a moved product')
      call precond%create(matrix, 'lu', status)
      call precond%apply(z, y, status)
      call expect(status == bisai_ok .and. maxval(abs(y - x)) < 1e-10_real64, 'a moved application')
      call matrix%update(2*entries, status)
      call expect_ok(status, context%message(), 'an update of entries')
      call solver%create(matrix, 'gmres', status)
      y = 0
      call solver%solve(matrix, 2*z, y, status, precond)
      call expect(status == bisai_ok .and. maxval(abs(y - x)) < 1e-6_real64, 'a moved solution')
    end do
  end subroutine

  subroutine updates_take_new_values()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix
    type(bisai_preconditioner) :: precond
    type(bisai_solver) :: solver
    real(real64) :: x(rows)
    integer :: status
    call new_matrix(context, matrix)
    call precond%create(matrix, 'mg', status)
    call solver%create(matrix, 'gmres', status)
    call make_grid(1.25_real64)
    call matrix%update(values(:, :, :blocks), status)
    call expect_ok(status, context%message(), 'an update of the matrix')
    call precond%update(matrix, status)
    call expect_ok(status, context%message(), 'an update of the preconditioner')
    call solver%solve(matrix, times(some_vector()), x, status, precond)
    call expect(status == bisai_ok .and. maxval(abs(x - some_vector())) < 1e-6_real64, &
      'a solution after an update')
    call make_grid(1.0_real64)
  end subroutine

  subroutine one_call_chooses()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix
    type(bisai_report) :: report
    real(real64) :: x(rows)
    integer :: status
    call new_matrix(context, matrix)
    call bisai_solve(matrix, times(some_vector()), x, status, report=report)
    call expect_ok(status, context%message(), 'a choice')
    call expect(maxval(abs(x - some_vector())) < 1e-6_real64, 'the solution of a choice')
    call expect(index(report%reason, ' was chosen') > 0, report%reason)
    call bisai_solve(matrix, times(some_vector()), x, status, 'isai:k=2', 'idr:s=2', report=report)
    call expect(status == bisai_ok .and. report%preconditioner == 'isai:k=2' .and. &
      report%solver == 'idr:s=2', report%preconditioner//' '//report%solver)
  end subroutine

  ! Multigrid reads the matrix in applications, and everything belongs to the context.
  subroutine objects_end_in_any_order()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix, again
    type(bisai_preconditioner) :: precond, shared
    real(real64) :: z(rows), y(rows)
    integer :: status
    call new_matrix(context, matrix)
    call precond%create(matrix, 'mg', status)
    call precond%apply(some_vector(), z, status)
    call context%destroy()
    again = matrix
    call matrix%destroy()
    call expect(.not. matrix%is_created() .and. again%is_created(), 'an assigned matrix')
    call again%destroy()
    shared = precond
    shared = shared
    call precond%destroy()
    call precond%destroy()
    call shared%apply(some_vector(), y, status)
    call expect(status == bisai_ok .and. maxval(abs(y - z)) <= 0, &
      'an application after the matrix ended')
  end subroutine

  ! With the constants of each unknown, which are the default, the bits are the same.
  subroutine near_null_vectors_are_read()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix
    type(bisai_preconditioner) :: precond, given
    real(real64) :: constants(bs, nodes, bs), z(rows), y(rows)
    integer :: status, k
    call new_matrix(context, matrix)
    constants = 0
    do k = 1, bs
      constants(k, :, k) = 1
    end do
    call precond%create(matrix, 'mg', status)
    call given%create(matrix, 'mg', status, null_vectors=reshape(constants, [rows, bs]))
    call expect_ok(status, context%message(), 'near-null vectors')
    call precond%apply(some_vector(), z, status)
    call given%apply(some_vector(), y, status)
    call expect(maxval(abs(y - z)) < 1e-12_real64, 'an application with near-null vectors')
    constants(:, :, 2) = 0
    call given%create(matrix, 'mg', status, null_vectors=reshape(constants, [rows, bs]))
    call expect_refused(status, bisai_invalid_argument, context%message(), 'is zero')
    call expect(given%is_created(), 'the preconditioner after a creation that failed')
    call given%create(matrix, 'mg', status, null_vectors=reshape(constants, [rows/2, 2*bs]))
    call expect_refused(status, bisai_invalid_argument, context%message(), 'null_vectors: a column')
  end subroutine

  subroutine wrong_arrays_are_refused()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix, other
    type(bisai_solver) :: solver
    real(real64) :: x(rows), y(rows), short(rows - 1), nan
    integer(int32) :: changed(blocks)
    integer :: status
    call new_matrix(context, matrix)
    call other%create_blocks(context, row_ptr, col_idx(:blocks - 1), values(:, :, :blocks), status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'col_idx has 671 values')
    call other%create_blocks(context, row_ptr, col_idx(:blocks), values(:, :, :1), status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'values has 1 values')
    call other%create_blocks(context, row_ptr, col_idx(:blocks), values(:1, :, :blocks), status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'blocks are square')
    call other%create_blocks(context, row_ptr(:0), col_idx(:0), values(:, :, :0), status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'row_ptr is empty')
    call other%create_blocks(context, row_ptr - 1, col_idx(:blocks - 1), &
      values(:, :, :blocks - 1), status)
    call expect_refused(status, bisai_invalid_structure, context%message(), 'row_ptr begins with 0')
    changed = col_idx(:blocks)
    changed(7) = 0
    call other%create_blocks(context, row_ptr, changed, values(:, :, :blocks), status)
    call expect_refused(status, bisai_invalid_structure, context%message(), 'block row 1')
    nan = 0
    nan = nan/nan
    values(1, 2, 4) = nan
    call other%create_blocks(context, row_ptr, col_idx(:blocks), values(:, :, :blocks), status)
    call expect_refused(status, bisai_not_finite, context%message(), 'block')
    call matrix%update(values(:, :, :blocks), status)
    call expect_refused(status, bisai_not_finite, context%message(), 'block')
    call make_grid(1.0_real64)
    call matrix%update(values(:, :, :3), status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'values has 12 values')
    call other%create_csr(context, [1, 2, 3], [1, 2], [1.0_real64, 1.0_real64], status, node=[1])
    call expect_refused(status, bisai_invalid_argument, context%message(), 'node has 1 values')
    call other%create_csr(context, [1, 2, 3], [1, 2], [1.0_real64, 1.0_real64], status, node=[0, 1])
    call expect(status /= bisai_ok, 'a node 0')
    call other%create_blocks(context, [1, 3, 4], [2, 1, 2], values(:, :, :3), status)
    call expect_ok(status, context%message(), 'columns in any order')
    call other%update(values(:, :, :3), status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'were not sorted')
    call matrix%multiply(short, x, status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'x has 287 values')
    call solver%create(matrix, 'gmres', status)
    call solver%solve(matrix, short, x, status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'b has 287 values')
    call solver%solve(matrix, x, short, status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'x has 287 values')
    x = nan
    call bisai_solve(matrix, x, short, status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'x has 287 values')
    call bisai_solve(matrix, x, y, status)
    call expect_refused(status, bisai_not_finite, context%message(), 'b is not finite in row 0')
    call make_grid(1.0_real64)
  end subroutine

  subroutine wrong_texts_are_refused()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix
    type(bisai_preconditioner) :: precond
    type(bisai_solver) :: solver
    real(real64) :: x(rows), y(rows)
    integer :: status
    x = 1
    call context%create(status, 'gpu')
    call expect(status == bisai_invalid_argument, 'an unknown backend')
    call expect(context%message() == 'the object was not created', context%message())
    call context%create(status, 'host', threads=-1)
    call expect(status == bisai_invalid_argument, 'a negative number of threads')
    call new_matrix(context, matrix)
    call precond%create(matrix, 'ilu:levels=1', status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'character 5')
    call precond%create(matrix, '', status)
    call expect(status == bisai_invalid_argument, 'an empty text')
    call solver%create(matrix, 'gmres:restart=0', status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'restart')
    call solver%create(matrix, 'gmres', status, tolerance=-1.0_real64)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'tolerance')
    call solver%create(matrix, 'gmres', status, max_iterations=-1)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'max_iterations')
    call bisai_solve(matrix, x, y, status, preconditioner='mg:cycle=x')
    call expect_refused(status, bisai_invalid_argument, context%message(), 'character 4')
    call bisai_solve(matrix, x, y, status, solver='cgs')
    call expect_refused(status, bisai_invalid_argument, context%message(), 'character 1')
  end subroutine

  subroutine objects_that_do_not_exist_are_refused()
    type(bisai_context) :: context, other_context
    type(bisai_matrix) :: matrix, none, other
    type(bisai_preconditioner) :: precond
    type(bisai_solver) :: solver
    type(bisai_report) :: report
    real(real64) :: x(rows), y(rows), nothing(0)
    integer :: status
    x = 1
    call none%create_blocks(context, row_ptr, col_idx(:blocks), values(:, :, :blocks), status)
    call expect(status == bisai_invalid_argument, 'a matrix without a context')
    call none%multiply(nothing, nothing, status)
    call expect(status == bisai_invalid_argument, 'a product without a matrix')
    call none%update(nothing, status)
    call expect(status == bisai_invalid_argument, 'an update without a matrix')
    call precond%create(none, 'ilu', status)
    call expect(status == bisai_invalid_argument, 'a preconditioner without a matrix')
    call precond%apply(nothing, nothing, status)
    call expect(status == bisai_invalid_argument, 'an application without a preconditioner')
    call precond%report(report, status)
    call expect(status == bisai_invalid_argument, 'a report without a preconditioner')
    call solver%create(none, 'gmres', status)
    call expect(status == bisai_invalid_argument, 'a solver without a matrix')
    call bisai_solve(none, nothing, nothing, status)
    call expect(status == bisai_invalid_argument, 'a solve without a matrix')
    call new_matrix(context, matrix)
    call precond%update(matrix, status)
    call expect(status == bisai_invalid_argument, 'an update without a preconditioner')
    call solver%solve(matrix, x, y, status)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'the solver was not')
    call solver%create(matrix, 'gmres', status)
    call solver%solve(matrix, x, y, status, precond)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'the preconditioner was')
    call new_matrix(other_context, other)
    call precond%create(other, 'ilu', status)
    call solver%solve(matrix, x, y, status, precond)
    call expect_refused(status, bisai_invalid_argument, context%message(), 'different contexts')
    call precond%update(matrix, status)
    call expect_refused(status, bisai_invalid_argument, other_context%message(), 'another context')
  end subroutine

  subroutine failed_solves_say_why()
    type(bisai_context) :: context
    type(bisai_matrix) :: matrix
    type(bisai_solver) :: solver
    type(bisai_report) :: report
    real(real64) :: x(rows)
    integer :: status
    call new_matrix(context, matrix)
    call solver%create(matrix, 'gmres', status, max_iterations=2)
    call solver%solve(matrix, times(some_vector()), x, status, report=report)
    call expect_refused(status, bisai_max_iterations, context%message(), 'after 2 iterations')
    call expect(report%iterations == 2 .and. report%reason == 'max_iterations', report%reason)
    call solver%create(matrix, 'cg', status)
    call solver%solve(matrix, times(some_vector()), x, status)
    call expect_refused(status, bisai_not_symmetric, context%message(), 'symmetric')
  end subroutine
end program use_bisai
