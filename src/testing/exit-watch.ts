/**
 * For `node --import`: writes to standard error which timers and sockets keep a program alive some turns of the event
 * loop after it has set its exit code. A program that ends before that writes nothing.
 */
const TURNS = 10
let turns = 0

setInterval(() => {
  if (process.exitCode === undefined || ++turns !== TURNS) return
  const kept = process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name.endsWith('SocketWrap'))
  if (kept.length > 0) process.stderr.write(`still open after the exit code was set: ${kept.join(', ')}\n`)
}, 10).unref()
