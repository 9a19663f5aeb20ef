/** The measurement of one contestant in one window. */
export interface Sample {
  readonly contestant: string
  /** Units in progress at a time. */
  readonly open: number
  readonly units: number
  /** The CPU time of all processes of the contestant. */
  readonly cpuUs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The load average of the machine over one minute, after the window. */
  readonly load: number
}

export const OURS = 'windlass'

/** The result of a row: its samples, and each absent peer with the reason. */
export interface RowResult {
  readonly samples: readonly Sample[]
  readonly absences: readonly string[]
}
