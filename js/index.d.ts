/** kindred: clusters several related data sets together and carries labels from one data set to another. */

export type NumberArray =
  | Float64Array | Float32Array | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array | Uint8ClampedArray;

/** A sparse matrix in compressed rows. */
export interface Csr {
  indptr: ArrayLike<number>;
  indices: ArrayLike<number>;
  values: ArrayLike<number>;
  shape: [number, number];
}

/** Values in memory. A typed array holds the rows one after the other; `columns` is then required. */
export interface DataSet {
  name?: string;
  data: NumberArray | ReadonlyArray<ArrayLike<number>> | ReadonlyArray<Record<string, unknown>> | Csr;
  /** Names of the columns or, for a typed array, their number. */
  columns?: ReadonlyArray<string> | number;
  /** Names of the rows. */
  ids?: ReadonlyArray<string> | null;
  /** transfer: the class of each row of a source. */
  labels?: ReadonlyArray<string | number> | null;
}

/** A file of any format that the program reads; the name shows the format. */
export interface DataFile {
  name: string;
  bytes: Uint8Array | ArrayBuffer;
  labels?: ReadonlyArray<string | number> | null;
}

/** A folder of texts, one file each, with paths relative to the folder. */
export interface DataFolder {
  name: string;
  files: Record<string, Uint8Array | ArrayBuffer>;
}

export type Input = DataSet | DataFile | DataFolder | Blob | ReadResult;

export interface Progress {
  stage: string;
  /** 0 to 1; NaN if unknown. */
  fraction: number;
  /** NaN if the stage has none. */
  objective: number;
  /** Since the start. */
  seconds: number;
  /** Estimated seconds until the stage ends; NaN if unknown. */
  remaining: number;
  /** Whether the stage may end earlier. */
  atMost: boolean;
}

export interface Control {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Run in a worker (default) or in the calling thread, where a job cannot be cancelled. */
  worker?: boolean;
  /**
   * Threads of cluster and transfer, in node and on isolated pages. The default is the number of processors, at most 8, if the data
   * have more than 1 MB, otherwise 1. Labels do not depend on it.
   */
  threads?: number;
}

type Value = string | number | boolean;

/**
 * Options of the program, in camel case: `topFeatures: 100` is `--top-features 100`, `transfer: false` is `--no-transfer`, a list
 * repeats an option, and `set: {max_iter: 50}` is `--set max_iter=50`. Unknown names are errors.
 */
export interface Options extends Control {
  seed?: number;
  weight?: "none" | "binary" | "log1p" | "cpm" | "tfidf" | "sqrt";
  norm?: "none" | "l1" | "l2";
  scale?: "none" | "standard" | "minmax" | "table";
  features?: "default" | "union" | "intersect" | "position";
  labelColumn?: string | number;
  idColumn?: string | number;
  taskColumn?: string;
  missing?: "error" | "zero" | "mean" | "median" | "drop-row" | "drop-column" | "keep";
  /** Which columns of tables to use and their kinds, such as `"height,city:category,-Nr"`. */
  columns?: string;
  [option: string]: unknown;
}

export interface FitOptions extends Options {
  method?: string;
  /** Options of the method. */
  set?: Record<string, Value>;
  /** Also return the arrays of the method, in `arrays`. */
  arrays?: boolean;
  /** Also return a model for predict, in `model`. */
  model?: boolean;
  /** Also compute the map of the samples and the page, in `html`. */
  report?: boolean;
  /** Known classes of each data set, used only for scoring. */
  truth?: ReadonlyArray<ReadonlyArray<string | number>>;
  /** What explains the clusters of each data set, or the classes of each target, instead of its columns: texts, or another data set. */
  explain?: ReadonlyArray<string> | ReadonlyArray<Input | ReadonlyArray<string>>;
  /** A model to which the data sets are added: bytes, or a result with `{model: true}`. Not with `k` or a source. */
  into?: Uint8Array | ArrayBuffer | Result;
}

export interface ClusterOptions extends FitOptions {
  /** The number of clusters: one for all data sets, one each, `"auto"`, or a range such as `"3-8"`. Required without `into`. */
  k?: number | string | ReadonlyArray<number>;
  /** Initial labels of each data set. */
  init?: ReadonlyArray<ReadonlyArray<number>>;
  /** Known classes of some samples of each data set, "?" elsewhere: they keep their classes. */
  known?: ReadonlyArray<ReadonlyArray<string>>;
}

export interface TransferOptions extends FitOptions {
  /** Known classes of the target, "?" if unknown. */
  targetLabels?: ReadonlyArray<string>;
  probabilities?: boolean;
  abstain?: number;
  ask?: number;
}

export interface Task {
  name: string;
  n: number;
  d: number;
  k: number;
  /** Cluster of each sample, or its class as an index into `classes`; -1 if it has none. */
  labels: Int32Array;
  classes?: string[] | null;
  confidence?: Float64Array;
  second?: Int32Array;
  [field: string]: unknown;
}

/** result.json, with typed arrays; docs/result-json.md describes every field. */
export interface Result {
  method: string;
  tasks: Task[];
  warnings: string[];
  /** What the program prints. */
  summary: string;
  /** Arrays by name, such as `centres.task1`. */
  arrays: Record<string, { data: NumberArray; shape: number[] }>;
  /** The files that the program writes: result.json, labels, samples.csv, features.csv and so on. */
  files: Record<string, Uint8Array>;
  model?: Uint8Array;
  html?: string;
  [field: string]: unknown;
}

export interface ReadResult {
  name: string;
  rows: number;
  cols: number;
  data: NumberArray | Csr;
  columns: string[] | number;
  ids: string[] | null;
  labels: string[] | null;
  description: Description;
  file: DataFile;
}

export interface Description {
  name: string;
  rows: number;
  cols: number;
  sparse: boolean;
  columns?: { name: string; kind: string; features: number; missing: number; constant: boolean; why: string }[];
  problems: { found: string; then: string; fatal: boolean }[];
  [field: string]: unknown;
}

export interface Embedding {
  name: string;
  rows: number;
  /** x and y of each sample in turn. */
  xy: Float64Array;
}

/** An error of the program, with its message and exit status: 2 usage, 3 data, 4 numerical breakdown, 1 other. */
export class KindredError extends Error {
  code: number;
}

export function cluster(sets: Input | ReadonlyArray<Input>, options: ClusterOptions): Promise<Result>;
export function transfer(
  sets: { source?: Input | ReadonlyArray<Input>; target: Input | ReadonlyArray<Input>; bridge?: Input | ReadonlyArray<Input> },
  options?: TransferOptions): Promise<Result>;
export function predict(model: Uint8Array | ArrayBuffer | Result, set: Input, options?: Options & { task?: string }): Promise<Result>;
export function relate(sets: ReadonlyArray<Input>, options?: Options): Promise<Result>;
export function embed(sets: Input | ReadonlyArray<Input>, options?: Options & { layout?: "forces" | "directions" }): Promise<Embedding[]>;
export function inspect(sets: Input | ReadonlyArray<Input>, options?: Options): Promise<{ tasks: Description[]; warnings: string[]; error: string | null; [field: string]: unknown }>;
export function read(bytes: Uint8Array | ArrayBuffer, name: string, options?: Options): Promise<ReadResult>;
/** The report as one HTML page. */
export function report(result: Result, options?: Control): Promise<string>;
export function methods(options?: Control): Promise<Record<string, unknown>[]>;
/** Runs any command. `files` are put into its working folder; files that it writes to /out are returned. */
export function command(args: ReadonlyArray<string | number>, files?: Record<string, Uint8Array | ArrayBuffer>, options?: Control):
  Promise<{ stdout: string; warnings: string[]; files: Record<string, Uint8Array> }>;
export type ModuleSource = Uint8Array | ArrayBuffer | WebAssembly.Module | string | URL | null;
/** `wasm` and `threadsWasm`: bytes, a compiled module, or the URL of kindred.wasm and kindred-threads.wasm. `worker: false` runs jobs in the calling thread. */
export function configure(options: { worker?: boolean; wasm?: ModuleSource; threadsWasm?: ModuleSource }): void;

declare const kindred: {
  cluster: typeof cluster; transfer: typeof transfer; predict: typeof predict; relate: typeof relate; embed: typeof embed;
  inspect: typeof inspect; read: typeof read; report: typeof report; methods: typeof methods; command: typeof command;
  configure: typeof configure; KindredError: typeof KindredError;
};
export default kindred;
