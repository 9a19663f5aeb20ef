export interface Readiness {
  /** What /readyz and the gRPC health service answer from. */
  state(): { readonly ready: boolean; readonly reasons: readonly string[] }
  /** Not ready until every reason is taken back. */
  hold(reason: string): void
  release(reason: string): void
}

/** Ready is the absence of reasons against it. */
export function createReadiness(...reasons: readonly string[]): Readiness {
  const held = new Set(reasons)
  return {
    state: () => ({ ready: held.size === 0, reasons: [...held] }),
    hold: (reason) => held.add(reason),
    release: (reason) => held.delete(reason),
  }
}
