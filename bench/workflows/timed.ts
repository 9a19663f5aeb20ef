import { spawn } from 'node:child_process'
import { tethered } from '../child.ts'
import { treeCpuMs } from './tree-cpu.ts'

export interface Run {
  readonly wallMs: number
  /** CPU time of the program and its children, without that of a server and its workers. */
  readonly cpuMs: number
  /** CPU time of the server and its workers. */
  readonly gridCpuMs: number
}

/** The shell reports the CPU time of its children and their descendants. */
export function timed([program = '', ...words]: readonly string[], what: string): Promise<Run> {
  const before = treeCpuMs(process.pid)
  const script = 'TIMEFORMAT="%R %U %S"; time "$0" "$@" 2>/dev/null >/dev/null'
  return new Promise((resolve, reject) => {
    const child = tethered(spawn('bash', ['-c', script, program, ...words], { stdio: ['ignore', 'ignore', 'pipe'] }))
    let reported = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      reported += text
    })
    child.once('close', (code) => {
      const [real = Number.NaN, user = Number.NaN, system = Number.NaN] = reported.trim().split(/\s+/).map(Number)
      const gridCpuMs = treeCpuMs(process.pid) - before
      if (code === 0) resolve({ wallMs: real * 1000, cpuMs: (user + system) * 1000, gridCpuMs })
      else reject(new Error(`${what} failed with exit code ${code}`))
    })
  })
}
