/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type {
  ScenarioText,
  PreflightText,
  ExportWish,
  MachinesText,
  MachineCheck,
  CalibrationStart,
  RunStart,
  ShardsOf,
  KernelBuild,
  SweepStart,
  EditsOfText,
  QuantityText,
  FibrePairs,
  FileSave,
  CaptureStart,
  LinkChange,
  ImpairmentStart,
  TerminalStart,
  AnnotationsSave,
  RunArchive,
  RunComparison,
  RequestsTable,
  TransferRequests,
  TraceWish,
  TraceSave,
  TraceCollection,
  RelayWish,
  RelayStart,
  PathMapWish,
  StudyStart,
  TransferStart,
} from './bodies';
import type {
  Done,
  State,
  BuiltInText,
  TemplateText,
  FileText,
  Saved,
  Preflight,
  Findings,
  Quantity,
  Certified,
} from './texts';
import type { Check, Edited } from './drawings';
import type {
  Begun,
  Annotated,
  RunDetails,
  RunNetwork,
  Changed,
  Ticket,
  Log,
  LinksOverTime,
  ProbesOverTime,
  FlowsOverTime,
  SocketsOverTime,
  LatenessOverTime,
  ConnectionsOverTime,
  Packets,
} from './runs';
import type { ShardPlan } from './shards';
import type { KernelList } from './kernels';
import type { TerminalRow, TerminalList, HostNow } from './hosts';
import type { ImpairmentRow, LinkNow } from './links';
import type { CaptureNow, CapturedPackets, PacketDetails } from './captures';
import type { Cities, Fibres } from './places';
import type { Runs, SweepResult, Comparison } from './studies';
import type { Policies, TransferPlan, RequestsRead, RequestFiles, TransferRun } from './transfers';
import type { TraceFiles, TraceView, TraceSaved } from './traces';
import type { RelayList, RelayCheck, RelayState, RelayCharts, PathMap } from './relays';
import type { StudyList, StudyDetails, Picture } from './claims';
import type { Job, JobList, JobOutput } from './jobs';
import type { ExportedFiles, MachinesMapped } from './export';
import type {
  Hello,
  Building,
  Algorithm,
  Up,
  RunStarted,
  ProgramState,
  Sample,
  Now,
  ConnectionsNow,
  NetworkChanged,
  Warned,
  Failure,
  Ending,
  Concluding,
  Results,
  End,
} from './events';

/**
 * What is sent to each address.
 */
export interface Bodies {
  'PUT /files/{name}': FileSave;
  'POST /check': ScenarioText;
  'POST /preflight': PreflightText;
  'POST /edit': EditsOfText;
  'POST /quantity': QuantityText;
  'POST /fibres': FibrePairs;
  'POST /traces': TraceWish;
  'PUT /traces/{name}': TraceSave;
  'POST /traces/collect': TraceCollection;
  'POST /relays': RelayStart;
  'POST /relays/check': RelayWish;
  'POST /relays/paths': PathMapWish;
  'POST /export': ExportWish;
  'POST /export/archive': ExportWish;
  'POST /export/machines': MachinesText;
  'POST /doctor': MachineCheck;
  'POST /calibrate': CalibrationStart;
  'POST /kernels': KernelBuild;
  'POST /shards': ShardsOf;
  'POST /runs': RunStart;
  'PUT /runs/{run}/annotations': AnnotationsSave;
  'POST /archive': RunArchive;
  'POST /runs/{run}/set': LinkChange;
  'POST /runs/{run}/captures': CaptureStart;
  'POST /runs/{run}/impairments': ImpairmentStart;
  'POST /runs/{run}/terminals': TerminalStart;
  'POST /sweeps': SweepStart;
  'POST /compare': RunComparison;
  'POST /compare/report': RunComparison;
  'POST /studies/{study}/runs': StudyStart;
  'POST /transfers/requests': RequestsTable;
  'POST /transfers/plan': TransferRequests;
  'POST /transfers/runs': TransferStart;
}

/**
 * What is answered at each address.
 */
export interface Answers {
  'GET /state': State;
  'GET /schema': {
    [k: string]: unknown;
  };
  'GET /scenarios/{name}': BuiltInText;
  'GET /templates/{name}': TemplateText;
  'GET /files/{name}': FileText;
  'PUT /files/{name}': Saved;
  'POST /check': Check;
  'POST /preflight': Preflight;
  'POST /edit': Edited;
  'POST /quantity': Quantity;
  'GET /cities': Cities;
  'POST /fibres': Fibres;
  'GET /traces': TraceFiles;
  'POST /traces': TraceView;
  'PUT /traces/{name}': TraceSaved;
  'POST /traces/collect': Job;
  'GET /relays': RelayList;
  'POST /relays': Job;
  'POST /relays/check': RelayCheck;
  'POST /relays/paths': PathMap;
  'GET /relays/{run}': RelayState;
  'GET /relays/{run}/charts': RelayCharts;
  'GET /certificate': Certified;
  'POST /export': ExportedFiles;
  'POST /export/archive': Ticket;
  'POST /export/machines': MachinesMapped;
  'POST /doctor': Findings;
  'POST /calibrate': Job;
  'GET /kernels': KernelList;
  'POST /kernels': Job;
  'POST /shards': ShardPlan;
  'GET /runs': Runs;
  'POST /runs': Begun;
  'GET /runs/{run}': RunDetails;
  'DELETE /runs/{run}': Done;
  'POST /runs/{run}/restore': Done;
  'PUT /runs/{run}/annotations': Annotated;
  'POST /runs/{run}/reproduce': Begun;
  'POST /archive': Ticket;
  'GET /runs/{run}/network': RunNetwork;
  'POST /runs/{run}/stop': Done;
  'POST /runs/{run}/set': Changed;
  'POST /runs/{run}/ticket': Ticket;
  'GET /runs/{run}/links/{link}': LinkNow;
  'POST /runs/{run}/captures': CaptureNow;
  'GET /runs/{run}/captures/{link}': CapturedPackets;
  'DELETE /runs/{run}/captures/{link}': Done;
  'GET /runs/{run}/captures/{link}/packets/{number}': PacketDetails;
  'POST /runs/{run}/captures/{link}/ticket': Ticket;
  'POST /runs/{run}/impairments': ImpairmentRow;
  'DELETE /runs/{run}/impairments/{impairment}': Done;
  'GET /runs/{run}/hosts/{host}': HostNow;
  'GET /runs/{run}/terminals': TerminalList;
  'POST /runs/{run}/terminals': TerminalRow;
  'DELETE /runs/{run}/terminals/{terminal}': Done;
  'GET /runs/{run}/logs/{program}': Log;
  'GET /runs/{run}/series':
    LinksOverTime | LatenessOverTime | ProbesOverTime | FlowsOverTime | SocketsOverTime | ConnectionsOverTime;
  'GET /runs/{run}/packets': Packets;
  'POST /sweeps': Begun;
  'GET /sweeps/{run}': SweepResult;
  'POST /sweeps/{run}/stop': Done;
  'POST /compare': Comparison;
  'POST /compare/report': Ticket;
  'GET /jobs': JobList;
  'GET /jobs/{job}': JobOutput;
  'POST /jobs/{job}/stop': Done;
  'GET /studies': StudyList;
  'GET /studies/{study}': StudyDetails;
  'POST /studies/{study}/runs': Job;
  'GET /studies/{study}/figures/{figure}': Picture;
  'GET /transfers/files': RequestFiles;
  'GET /transfers/policies': Policies;
  'POST /transfers/requests': RequestsRead;
  'POST /transfers/plan': TransferPlan;
  'POST /transfers/runs': Begun;
  'GET /transfers/runs/{run}': TransferRun;
}

export type RunEvent =
  | Hello
  | Sample
  | Now
  | ConnectionsNow
  | Building
  | Algorithm
  | Up
  | RunStarted
  | ProgramState
  | NetworkChanged
  | Warned
  | Failure
  | Ending
  | Concluding
  | Results
  | End;
