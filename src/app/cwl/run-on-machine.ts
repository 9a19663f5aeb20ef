import { type LocalRun, runLocally } from '../../cwl-runner/run-locally.ts'
import type { StepOutcome } from '../../workflow/run/state.ts'
import { type MachineOptions, openCwlMachine } from './machine.ts'

/** Runs a workflow on this machine. It is one module, so that the bundle reads fewer parts at the start. */
export async function runOnMachine(run: Omit<LocalRun, 'machine'>, options: MachineOptions): Promise<StepOutcome> {
  const machine = openCwlMachine(options)
  try {
    return await runLocally({ ...run, machine })
  } finally {
    await machine.close()
  }
}
