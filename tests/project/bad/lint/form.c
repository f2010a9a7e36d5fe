/* SPDX-License-Identifier: BSD-3-Clause */
/* Not in the form that clang-format gives it. */
int  bsi_form( int a ){
    return a ;
}
