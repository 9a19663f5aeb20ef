import { resolve } from 'node:path'
import type { Backend } from '../../app/config/backends.ts'
import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { executeOnce } from '../../app/worker/execute.ts'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { ActionResult } from '../../model/action-result.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import { headersOf, serverOf, targetOf, tlsOf } from '../session/dial.ts'
import type { DialOptions } from '../session/dial-flags.ts'
import { untilStopped } from '../session/until-stopped.ts'
import { ExitRequest } from '../session/verdict.ts'

export interface ExecuteFlags extends DialOptions {
  readonly casUrl?: string
  readonly actionDigest: string
  readonly workDir: string
  readonly backend: Backend
  readonly instance: string
  readonly digestFunction?: DigestFunction
  readonly json?: true
}

/** Default environment variables of the command. */
const PASSED_ON = ['PATH', 'HOME']

export async function runWorkerExecute(flags: ExecuteFlags, terminal: Terminal): Promise<void> {
  const problem = instanceNameProblem(flags.instance)
  if (problem !== undefined) throw invalid(`--instance: the name ${problem}`)
  const target = targetOf('--server', flags.casUrl ?? serverOf(flags, terminal))
  const [out, err] = [new TextDecoder(), new TextDecoder()]
  const order = {
    ...flags,
    target,
    tls: tlsOf(target, flags),
    headers: headersOf(flags.header),
    workDir: resolve(flags.workDir),
    digestFunction: flags.digestFunction,
    env: PASSED_ON.flatMap((name) => (terminal.env[name] === undefined ? [] : [{ name, value: terminal.env[name] }])),
    stdout: (bytes: Uint8Array) => flags.json ?? terminal.out(out.decode(bytes, { stream: true })),
    stderr: (bytes: Uint8Array) => flags.json ?? terminal.err(err.decode(bytes, { stream: true })),
  }
  const result = await untilStopped(terminal, (signal) => executeOnce(order, systemClock, signal))
  const { cause, reason } = result.stages[0] ?? {}
  if (flags.json) terminal.out(`${JSON.stringify({ cause, reason, ...resultJson(result) })}\n`)
  else terminal.err(inWords(result, reason))
  if (result.exitCode !== 0) throw new ExitRequest(result.exitCode)
}

const named = (digest: Digest | undefined): string | undefined => digest && formatDigest(digest)

/** Output that is too long to be inlined is printed as a digest. */
const printed = ({ digest, raw }: ActionResult['stdout']): string =>
  raw === undefined ? (named(digest) ?? '') : Buffer.from(raw).toString()

const resultJson = (result: ActionResult): object => ({
  exitCode: result.exitCode,
  stdout: printed(result.stdout),
  stderr: printed(result.stderr),
  files: result.outputFiles.map(({ path, digest, executable }) => ({ path, digest: named(digest), executable })),
  directories: result.outputDirectories.map(({ path, treeDigest, rootDigest }) => ({
    path,
    tree: named(treeDigest),
    root: named(rootDigest),
  })),
  symlinks: result.outputSymlinks.map(({ path, target }) => ({ path, target })),
})

/** On standard error, beside the command's output. */
function inWords({ exitCode, outputFiles, outputDirectories }: ActionResult, reason: string | undefined): string {
  const outputs = [
    ...outputFiles.map(({ path, digest }) => `${formatDigest(digest)} ${path}`),
    ...outputDirectories.map(({ path, treeDigest, rootDigest }) => `${named(treeDigest ?? rootDigest)} ${path}/`),
  ]
  const ended = `exit code ${exitCode}${reason === undefined ? '' : `: ${reason}`}`
  return `${[ended, ...outputs].map((line) => `windlass: ${line}`).join('\n')}\n`
}
