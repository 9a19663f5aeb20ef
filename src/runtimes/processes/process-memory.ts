import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { tryRead } from './small-files.ts'

/** The limit of descriptors per sample: a process can have a million of them, and the launcher is blocked meanwhile. */
const MOST_DESCRIPTORS = 8192
const BLOCK_BYTES = 512

/**
 * Sums the memory of processes where no control group counts it: resident pages, and files in memory (memfd_create(2)),
 * whose pages are resident only in processes that map them. Mapped ones are counted once. A process can still hide such
 * a file in a socket, on its way to another process.
 */
export function memoryBytesOf(pids: readonly number[]): number {
  const files = new Map<string, number>()
  let [resident, shared, left] = [0, 0, MOST_DESCRIPTORS]
  for (const pid of pids) {
    const status = tryRead(`/proc/${pid}/status`)
    resident += kibIn(status, 'VmRSS')
    shared += kibIn(status, 'RssShmem')
    for (const fd of descriptorsOf(pid)) {
      if (left-- <= 0) break
      countMemoryFile(`/proc/${pid}/fd/${fd}`, files)
    }
  }
  const inFiles = [...files.values()].reduce((all, bytes) => all + bytes, 0)
  return resident + Math.max(0, inFiles - shared)
}

const kibIn = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024

/** Returns none for a process that has ended or that the kernel does not allow to inspect. */
function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
  } catch {
    return []
  }
}

function countMemoryFile(path: string, files: Map<string, number>): void {
  try {
    if (!readlinkSync(path).startsWith('/memfd:')) return
    const { dev, ino, blocks } = statSync(path)
    files.set(`${dev}:${ino}`, blocks * BLOCK_BYTES)
  } catch {
    // closed meanwhile
  }
}
