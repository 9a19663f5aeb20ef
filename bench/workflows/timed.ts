import { spawn } from 'node:child_process'
import { tethered } from '../child.ts'
import { treeCpuMs } from './tree-cpu.ts'

export interface Run {
  readonly wallMs: number
  /** Of the program and what it started; what a server and its workers do for it is not in it. */
  readonly cpuMs: number
  /** And of those. */
  readonly gridCpuMs: number
}

/** The shell knows what its children have used, those of a contestant included. */
export function timed([program = '', ...words]: readonly string[], what: string): Promise<Run> {
  const before = treeCpuMs(process.pid)
  const script = 'TIMEFORMAT="%R %U %S"; time "$0" "$@" 2>/dev/null >/dev/null'
  return new Promise((resolve, reject) => {
    const child = tethered(spawn('bash', ['-c', script, program, ...words], { stdio: ['ignore', 'ignore', 'pipe'] }))
    let told = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      told += text
    })
    child.once('close', (code) => {
      const [real = Number.NaN, user = Number.NaN, system = Number.NaN] = told.trim().split(/\s+/).map(Number)
      const gridCpuMs = treeCpuMs(process.pid) - before
      if (code === 0) resolve({ wallMs: real * 1000, cpuMs: (user + system) * 1000, gridCpuMs })
      else reject(new Error(`${what} failed with exit code ${code}`))
    })
  })
}
