import type { Clock } from '../base/clock.ts'
import { FaultError } from '../base/fault.ts'
import type { Expressions } from '../workflow/expressions/expressions.ts'
import { needsJavaScript } from '../workflow/process/needs-javascript.ts'
import type { Process } from '../workflow/process/process.ts'
import { drive } from '../workflow/run/drive.ts'
import { loadOntology } from '../workflow/run/ontologies.ts'
import type { Outcome } from '../workflow/run/state.ts'
import { asFault } from './as-fault.ts'
import { deliver } from './deliver.ts'
import { fetchLocal } from './fetch-local.ts'
import type { Machine } from './machine.ts'
import type { OpenedProcess } from './open-process.ts'
import { commandRunner } from './run-command.ts'

export interface LocalRun extends OpenedProcess {
  readonly machine: Machine
  /** Where outputs go, by its real path. */
  readonly outdir: string
  readonly clock: Clock
}

/** Takes a workflow from its inputs to outputs in their directory, on this machine and without a server. */
export async function runLocally({ process, inputs, machine, outdir, clock }: LocalRun): Promise<Outcome> {
  const { files, rooms } = machine
  const ontology = await loadOntology(process, fetchLocal)
  const outcome = await drive(process, inputs, {
    expressions: await expressionsFor(process, clock),
    files,
    ...(ontology === undefined ? {} : { ontology }),
    runCommand: commandRunner(machine),
  })
  if (outcome.kind === 'failed') return outcome
  try {
    return { kind: 'done', outputs: await deliver(outcome.outputs, { outdir, rooms, files }) }
  } catch (cause) {
    throw asFault(cause)
  }
}

/** The machine for JavaScript, where there is any to run. */
export async function expressionsFor(process: Process, clock: Clock): Promise<Expressions> {
  if (needsJavaScript(process)) {
    const { quickJsExpressions } = await import('../workflow/expressions/quickjs.ts')
    return quickJsExpressions(clock)
  }
  return {
    run() {
      throw new FaultError({ kind: 'bug', what: 'JavaScript in a process that asks for none' })
    },
  }
}
