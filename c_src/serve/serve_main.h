/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_MAIN_H
#define SERVE_MAIN_H

int serve_main(int argc, char **argv);

#endif
