import type { Log } from '../../base/log.ts'

/** Calls a door. A door that throws must not stop the engine: the error is logged and the result is false. */
export function guarded(log: Log, call: () => void): boolean {
  try {
    call()
    return true
  } catch (error) {
    log.error({ error }, 'callback of a door failed')
    return false
  }
}
