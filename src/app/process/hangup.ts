/** Calls back at every SIGHUP, which by default would end the process; the answer takes it back. */
export function onHangup(then: () => void): () => void {
  process.on('SIGHUP', then)
  return () => process.off('SIGHUP', then)
}
