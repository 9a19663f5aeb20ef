export interface ReadinessState {
  readonly ready: boolean
  /** Why it is not ready, in the order in which the causes came up. */
  readonly reasons: readonly string[]
  /** What does not work although it is ready. */
  readonly warnings: readonly string[]
}

/**
 * Whether callers should send work here. Each part of the program holds its own named causes; the server is ready when
 * none is held. /readyz and the gRPC health service answer from it.
 */
export interface Readiness {
  state(): ReadinessState
  /** Not ready until the cause is released. `detail` is the sentence for people, and replaces an earlier one. */
  hold(cause: string, detail?: string): void
  /** Reported, but no obstacle: the cause is released, and `detail` stays visible until `release`. */
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
