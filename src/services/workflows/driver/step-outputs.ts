import type { Digest } from '../../../base/digest.ts'
import { type FaultError, invalid } from '../../../base/fault.ts'
import { BLOB_STORE, type Stager } from '../../../stagers/stager.ts'
import type { CommandLineTool } from '../../../workflow/process/process.ts'
import type { CommandCall } from '../../../workflow/run/drive.ts'
import { collectToolOutputs } from '../../../workflow/tool/collect.ts'
import { exitClass, type ToolCommand } from '../../../workflow/tool/tool-command.ts'
import type { Files } from '../../../workflow/values/files.ts'
import type { ValueRecord } from '../../../workflow/values/value.ts'
import type { StepEnd } from './step-grid.ts'

export interface OutputReading {
  readonly files: Files
  readonly stager: Pick<Stager, 'put'>
  /** The largest `cwl.output.json` that is read. */
  readonly outputJsonBytes: number
}

/** Makes the output object of a step from the result and the output files of its task. */
export async function stepOutputs(
  { tool, scope, evaluator }: CommandCall,
  { command, result }: { readonly command: ToolCommand; readonly result: StepEnd },
  { files, stager, outputJsonBytes }: OutputReading,
): Promise<ValueRecord> {
  const { outputs, stage } = result
  if (stage === undefined) throw invalid('nothing was run')
  mustHaveSucceeded(tool, stage)
  if (outputs.problem !== undefined) throw invalid(outputs.problem)
  const outdirLocation = await stager.put({ kind: 'directory', digest: outputs.root ?? EMPTY }, BLOB_STORE)
  const { exitCode } = stage
  return collectToolOutputs({ tool, scope, command, exitCode, evaluator, files, outdirLocation, outputJsonBytes })
}

/** An empty directory is an empty message; this is its SHA-256. */
const EMPTY: Digest = {
  fn: 'sha256',
  hash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  size: 0,
}

function mustHaveSucceeded(tool: CommandLineTool, { cause, exitCode, reason }: NonNullable<StepEnd['stage']>): void {
  if (cause !== 'ok' && cause !== 'exit' && cause !== 'signal') throw invalid(reason ?? cause)
  const meaning = exitClass(tool, exitCode)
  if (meaning !== 'success') throw failed(exitCode, meaning === 'temporaryFailure', reason)
}

const failed = (exitCode: number, isPassing: boolean, reason: string | undefined): FaultError => {
  const kind = isPassing ? ', which the tool calls a passing failure' : ''
  return invalid(`the command ended with exit code ${exitCode}${kind}${reason === undefined ? '' : `: ${reason}`}`)
}
