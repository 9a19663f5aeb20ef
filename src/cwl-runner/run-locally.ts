import type { Clock } from '../base/clock.ts'
import { drive } from '../workflow/run/drive.ts'
import { loadOntology } from '../workflow/run/ontologies.ts'
import type { Outcome } from '../workflow/run/state.ts'
import { asFault } from './as-fault.ts'
import { deliver } from './deliver.ts'
import { expressionsFor } from './expressions-for.ts'
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
export async function runLocally({ process: opened, inputs, machine, outdir, clock }: LocalRun): Promise<Outcome> {
  const { files, rooms } = machine
  const ontology = await loadOntology(opened, fetchLocal)
  const outcome = await drive(opened, inputs, {
    expressions: await expressionsFor(opened, clock),
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
