export interface ReadinessState {
  readonly ready: boolean
  /** Why it is not ready, in the order in which the causes occurred. */
  readonly reasons: readonly string[]
  /** Failures that do not affect readiness. */
  readonly warnings: readonly string[]
}

/**
 * Whether callers should send work here. Each component holds its own named causes; the server is ready when none is
 * held. /readyz and the gRPC health service report it.
 */
export interface Readiness {
  state(): ReadinessState
  /** Not ready until the cause is released. `detail` is the message for users, and replaces an earlier one. */
  hold(cause: string, detail?: string): void
  /**
   * Reports a problem without affecting readiness: the cause is released, and `detail` stays visible until `release`.
   */
  warn(cause: string, detail: string): void
  release(cause: string): void
  /** Called after every change of `state().ready`. */
  onChange(listener: (ready: boolean) => void): void
}

export function createReadiness(...causes: readonly string[]): Readiness {
  const held = new Map(causes.map((cause) => [cause, cause]))
  const warned = new Map<string, string>()
  const listeners: ((ready: boolean) => void)[] = []
  let wasReady = held.size === 0
  const changed = (): void => {
    const ready = held.size === 0
    if (ready === wasReady) return
    wasReady = ready
    for (const listener of listeners) listener(ready)
  }
  return {
    state: () => ({ ready: held.size === 0, reasons: [...held.values()], warnings: [...warned.values()] }),
    hold(cause, detail = cause) {
      warned.delete(cause)
      held.set(cause, detail)
      changed()
    },
    warn(cause, detail) {
      warned.set(cause, detail)
      held.delete(cause)
      changed()
    },
    release(cause) {
      warned.delete(cause)
      held.delete(cause)
      changed()
    },
    onChange: (listener) => void listeners.push(listener),
  }
}
