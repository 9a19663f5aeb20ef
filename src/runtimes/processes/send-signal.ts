/**
 * Sends a signal, as kill(2) does: a negative pid names a process group. The wiring passes it in, because only it may
 * use `process`.
 */
export type SendSignal = (pid: number, signal: NodeJS.Signals) => void
