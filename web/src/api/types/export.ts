/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type { Problem } from './texts';

/**
 * A file of an export.
 */
export interface ExportedFile {
  path: string;
  text: string;
}

/**
 * The files of an export, and what differs from a run.
 */
export interface ExportedFiles {
  files: ExportedFile[];
  warnings: Problem[];
  command: string;
}

/**
 * The device of a machine at a link; of a link's own machine at a node.
 */
export interface MachineDevice {
  link: string;
  device: string;
}

/**
 * The machine of a node or of a link; `is_written` says that its devices are not the defaults.
 */
export interface MachineMapped {
  name: string;
  is_link: boolean;
  address: string;
  user: string;
  devices: MachineDevice[];
  is_written: boolean;
}

/**
 * The mapping to machines as a table; `links` have no machine of their own.
 */
export interface MachinesMapped {
  text: string;
  rows: MachineMapped[];
  links: string[];
  problems: Problem[];
}
