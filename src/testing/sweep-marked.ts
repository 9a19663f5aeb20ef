/**
 * `node sweep-marked.ts MARK`: waits until its standard input ends, which is when the process that started it is gone,
 * however that ended. Then it ends every process whose environment has the mark: servers, workers, spawners, JVMs and
 * daemons, also those that have left their parent. First by SIGTERM, so that they can clean up, then by SIGKILL.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const [mark = ''] = process.argv.slice(2)
const POLITE_MS = 5000
const MOST_MS = 30_000

function marked(): number[] {
  const entry = Buffer.from(`TEST_RUN_MARK=${mark}\0`)
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && environmentOf(pid).includes(entry))
}

function environmentOf(pid: number): Buffer {
  try {
    return Buffer.concat([Buffer.from('\0'), readFileSync(`/proc/${pid}/environ`)])
  } catch {
    return Buffer.alloc(0) // gone, or another user's
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // gone by itself
    }
  }
}

process.stdin.resume()
await new Promise((resolve) => process.stdin.once('end', resolve).once('error', resolve))
if (mark !== '') {
  const startedAt = performance.now()
  signal(marked(), 'SIGTERM')
  for (let left = marked(); left.length > 0 && performance.now() - startedAt < MOST_MS; left = marked()) {
    if (performance.now() - startedAt > POLITE_MS) signal(left, 'SIGKILL')
    await sleep(200)
  }
}
process.exit()
