#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A script that removes more than it should where a name has a space.
folder=$1
rm -rf $folder/work
