/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A kernel in this user's cache; runs do not use one that another version of Longhaul built.
 */
export interface GuestKernel {
  name: string;
  release: string;
  built: string;
  source: string;
  outdated: boolean;
}

/**
 * What is missing, and what to do.
 */
export interface Want {
  message: string;
  remedy: string | null;
}

/**
 * The kernels, the newest first.
 *
 * `missing`: why no run on the virtual clock can start, if so; `command` builds a kernel and `takes`
 * what it says; `build_lacks`: programs that a build needs and that are not installed, if any.
 */
export interface KernelList {
  kernels: GuestKernel[];
  missing: Want | null;
  command: string;
  takes: string;
  build_lacks: Want | null;
}
