import { resolve } from 'node:path'
import type { Terminal } from '../../app/process/terminal.ts'
import { FaultError } from '../../base/fault.ts'
import { fetchLocal } from '../../cwl-runner/files/fetch-local.ts'
import { addressFor } from '../../cwl-runner/open-process.ts'
import { loadProcess } from '../../workflow/loading/load.ts'
import { checkProcess } from '../../workflow/process/check.ts'
import type { Process } from '../../workflow/process/process.ts'
import { ExitRequest } from '../session/verdict.ts'

/** Reports for each document whether it is valid, and the place of an error. */
export async function validateCwl(named: readonly string[], terminal: Terminal): Promise<void> {
  let isRight = true
  for (const one of named) {
    try {
      const { class: kind } = await checked(one)
      terminal.out(`${one}: a valid ${kind}\n`)
    } catch (error) {
      isRight = false
      printProblem(error, terminal)
    }
  }
  if (!isRight) throw new ExitRequest(1)
}

export const graphCwl = (named: string, terminal: Terminal): Promise<void> =>
  printing(terminal, async () => (await import('../../workflow/packing/graph.ts')).graphText(await checked(named)))

export const packCwl = (named: string, terminal: Terminal): Promise<void> =>
  printing(terminal, async () => {
    const { packProcess } = await import('../../workflow/packing/pack.ts')
    return `${JSON.stringify(packProcess(await checked(named)), undefined, 2)}\n`
  })

async function printing(terminal: Terminal, make: () => Promise<string>): Promise<void> {
  try {
    terminal.out(await make())
  } catch (error) {
    printProblem(error, terminal)
    throw new ExitRequest(1)
  }
}

async function checked(named: string): Promise<Process> {
  const process = await loadProcess(addressFor(named, resolve()), fetchLocal)
  checkProcess(process)
  return process
}

function printProblem(error: unknown, terminal: Terminal): void {
  if (!(error instanceof FaultError)) throw error
  // A path instead of an address, because editors and terminals can open it.
  terminal.err(`${error.message.replaceAll(/file:\/\/(\/[^\s:]*)/g, (_, path: string) => plain(path))}\n`)
}

function plain(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
