import { drive } from '../workflow/run/drive.ts'
import { loadOntology } from '../workflow/run/ontologies.ts'
import type { StepOutcome } from '../workflow/run/state.ts'
import { asFault } from './as-fault.ts'
import { deliverOutputs } from './deliver.ts'
import { fetchLocal } from './files/fetch-local.ts'
import type { Machine } from './machine.ts'
import type { OpenedProcess } from './open-process.ts'
import { commandRunner } from './run-command.ts'

export interface LocalRun extends OpenedProcess {
  readonly machine: Machine
  /** The output directory, by its real path. */
  readonly outdir: string
}

/** Runs a workflow from its inputs to outputs in their directory, on this machine and without a server. */
export async function runLocally({ process: opened, inputs, machine, outdir }: LocalRun): Promise<StepOutcome> {
  const { expressions, files, folder: rooms } = machine
  const ontology = await loadOntology(opened, fetchLocal)
  const outcome = await drive(opened, inputs, {
    expressions,
    files,
    ...(ontology === undefined ? {} : { ontology }),
    runCommand: commandRunner(machine),
  })
  if (outcome.kind === 'failed') return outcome
  try {
    return { kind: 'done', outputs: await deliverOutputs(outcome.outputs, { outdir, rooms, files }) }
  } catch (cause) {
    throw asFault(cause)
  }
}
