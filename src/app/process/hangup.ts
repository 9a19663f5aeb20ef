/** Calls back at every SIGHUP, whose default would end the process; the returned function removes the listener. */
export function onHangup(then: () => void): () => void {
  process.on('SIGHUP', then)
  return () => process.off('SIGHUP', then)
}
