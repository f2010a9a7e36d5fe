! SPDX-License-Identifier: BSD-3-Clause
! Flow in a square whose lid moves, in Fortran: Newton's method with a preconditioner that is
! updated in each step.
!
! Stream function psi and vorticity w on (n + 1) × (n + 1) nodes, two unknowns a node:
!
!     −Δpsi = w,   (u·∇) w = Δw / Re,   u = (∂psi/∂y, −∂psi/∂x),
!
! psi = 0 on the walls, and Thom's formula for w there: w = −2 (psi(inside) + h U) / h², where U is
! 1 on the lid and 0 elsewhere. Central differences. Ghia, Ghia and Shin (J. Comput. Phys. 48, 1982)
! find the least psi −0.1034 for Re = 100.
program cavity
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use bisai
  implicit none
  integer, parameter :: n = 48, side = n + 1, nodes = side*side, steps = 12
  real(real64), parameter :: h = 1.0_real64/n, re = 100
  integer(int32) :: row_ptr(nodes + 1), col_idx(5*nodes)
  real(real64), allocatable :: values(:, :, :)
  real(real64) :: state(2, nodes), rhs(2*nodes), step(2*nodes)
  type(bisai_context) :: context
  type(bisai_matrix) :: jacobian
  type(bisai_preconditioner) :: precond
  type(bisai_solver) :: gmres
  type(bisai_report) :: report
  integer :: status, i

  call make_pattern()
  allocate (values(2, 2, row_ptr(nodes + 1) - 1))
  state = 0
  call assemble()

  call context%create(status)
  if (status == bisai_ok) &
    call jacobian%create_blocks(context, row_ptr, col_idx(:size(values, 3)), values, status)
  if (status == bisai_ok) call precond%create(jacobian, 'ilu:level=1', status)
  if (status == bisai_ok) &
    call gmres%create(jacobian, 'gmres:restart=60', status, tolerance=1e-6_real64)
  do i = 1, steps
    if (i > 1 .and. status == bisai_ok) call jacobian%update(values, status)
    if (i > 1 .and. status == bisai_ok) call precond%update(jacobian, status)
    if (status == bisai_ok) call gmres%solve(jacobian, rhs, step, status, precond, report)
    if (status /= bisai_ok) exit
    state = state + reshape(step, shape(state))
    print '(a, i0, a, i0, a, es8.1)', 'step ', i, ': ', report%iterations, &
      ' iterations, change ', maxval(abs(step))
    if (maxval(abs(step)) < 1e-8_real64) exit
    call assemble()
  end do
  if (status /= bisai_ok) then
    print '(3a)', bisai_status_text(status), ': ', context%message()
    error stop 1
  end if
  print '(a, f8.4)', 'least stream function', minval(state(1, :))

contains

  integer function node(i, j)
    integer, intent(in) :: i, j
    node = i + 1 + j*side
  end function

  ! The columns of a block row: the node and its neighbours, ascending. On a wall the neighbour
  ! inside, or none in a corner.
  subroutine make_pattern()
    integer :: i, j, p
    p = 1
    do j = 0, n
      do i = 0, n
        row_ptr(node(i, j)) = p
        if (j > 0 .and. (inside(i, j) .or. (j == n .and. inside(i, j - 1)))) &
          call add(i, j - 1, p)
        if (i > 0 .and. (inside(i, j) .or. (i == n .and. inside(i - 1, j)))) &
          call add(i - 1, j, p)
        call add(i, j, p)
        if (i < n .and. (inside(i, j) .or. (i == 0 .and. inside(i + 1, j)))) &
          call add(i + 1, j, p)
        if (j < n .and. (inside(i, j) .or. (j == 0 .and. inside(i, j + 1)))) &
          call add(i, j + 1, p)
      end do
    end do
    row_ptr(nodes + 1) = p
  end subroutine

  subroutine add(i, j, p)
    integer, intent(in) :: i, j
    integer, intent(inout) :: p
    col_idx(p) = node(i, j)
    p = p + 1
  end subroutine

  logical function inside(i, j)
    integer, intent(in) :: i, j
    inside = i > 0 .and. i < n .and. j > 0 .and. j < n
  end function

  ! The Jacobian, and the negative residual as right-hand side. Equations with derivatives are
  ! multiplied by h².
  subroutine assemble()
    integer :: i, j, k, p
    do j = 0, n
      do i = 0, n
        k = node(i, j)
        do p = row_ptr(k), row_ptr(k + 1) - 1
          values(:, :, p) = 0
          if (inside(i, j)) then
            call assemble_inside(i, j, col_idx(p), values(:, :, p))
          else if (col_idx(p) == k) then
            values(1, 1, p) = 1
            values(2, 2, p) = h*h
          else
            values(2, 1, p) = 2
          end if
        end do
        rhs(2*k - 1:2*k) = -residual(i, j)
      end do
    end do
  end subroutine

  ! The derivative of residual(i, j) by the two unknowns of a node.
  subroutine assemble_inside(i, j, column, block)
    integer, intent(in) :: i, j, column
    real(real64), intent(out) :: block(2, 2)
    real(real64) :: east, north, along, up, sign
    block = 0
    if (column == node(i, j)) then
      block(1, 1) = 4
      block(1, 2) = -h*h
      block(2, 2) = 4*h*h
      return
    end if
    east = re/4*h*h*(state(2, node(i + 1, j)) - state(2, node(i - 1, j)))
    north = re/4*h*h*(state(2, node(i, j + 1)) - state(2, node(i, j - 1)))
    along = re/4*h*h*(state(1, node(i, j + 1)) - state(1, node(i, j - 1)))
    up = -re/4*h*h*(state(1, node(i + 1, j)) - state(1, node(i - 1, j)))
    block(1, 1) = -1
    block(2, 2) = -h*h
    if (column == node(i, j + 1) .or. column == node(i, j - 1)) then
      sign = merge(1, -1, column == node(i, j + 1))
      block(2, 1) = sign*east
      block(2, 2) = block(2, 2) + sign*up
    else
      sign = merge(1, -1, column == node(i + 1, j))
      block(2, 1) = -sign*north
      block(2, 2) = block(2, 2) + sign*along
    end if
  end subroutine

  function residual(i, j) result(r)
    integer, intent(in) :: i, j
    real(real64) :: r(2)
    integer :: k, p
    k = node(i, j)
    if (.not. inside(i, j)) then
      r = [state(1, k), h*h*state(2, k)]
      if (j == n) r(2) = r(2) + 2*h
      do p = row_ptr(k), row_ptr(k + 1) - 1
        if (col_idx(p) /= k) r(2) = r(2) + 2*state(1, col_idx(p))
      end do
      return
    end if
    associate (east => node(i + 1, j), west => node(i - 1, j), north => node(i, j + 1), &
               south => node(i, j - 1))
      r = 4*state(:, k) - state(:, east) - state(:, west) - state(:, north) - state(:, south)
      r(1) = r(1) - h*h*state(2, k)
      r(2) = h*h*(r(2) + re/4*( &
        (state(1, north) - state(1, south))*(state(2, east) - state(2, west)) - &
        (state(1, east) - state(1, west))*(state(2, north) - state(2, south))))
    end associate
  end function
end program cavity
