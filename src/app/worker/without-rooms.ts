import { existsSync } from 'node:fs'
import { FaultError } from '../../base/fault.ts'
import { namespaceProblem } from '../../runtimes/namespaces/namespace-problem.ts'

type Open = () => Promise<{ close(): Promise<void> }>

/** Other backends, by name. */
export type OtherBackends = Readonly<Record<'docker' | 'apptainer', Open>>

const HOST =
  '--backend host: commands run as the worker, without isolation. Only where you trust everyone who sends commands; code from callers also needs --allow-bare-snippets'

/** With one of these Apptainer needs no user namespaces. */
const STARTERS = [
  '/usr/libexec',
  '/usr/lib',
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/local/libexec',
].map((folder) => `${folder}/apptainer/bin/starter-suid`)

/**
 * The error for a machine that cannot isolate rooms: the cause, then the backends that work here, strongest first. A
 * permanent cause is `invalid`, because a restart would fail again.
 */
export async function withoutRooms(refused: FaultError, others: OtherBackends): Promise<FaultError> {
  const problem = await namespaceProblem()
  const advice = [
    ...(problem === undefined ? [] : [`allow them: ${problem.remedy}`]),
    ...(await worksHere('docker', others.docker, 'containers of the engine that answers here')),
    ...(problem === undefined || STARTERS.some((path) => existsSync(path))
      ? await worksHere('apptainer', others.apptainer, 'containers of Apptainer')
      : []),
    HOST,
  ].map((line, i) => `${i + 1}. ${line}`)
  const what = [
    problem === undefined ? refused.message : `no isolated room can be made here: ${problem.cause}`,
    'What works here, the strongest isolation first:',
    ...advice,
  ].join('\n')
  return new FaultError(problem === undefined ? { kind: 'unavailable', what } : { kind: 'invalid', what }, refused)
}

/** Probes the backend, so that only backends that work here are suggested. */
async function worksHere(name: string, open: Open, what: string): Promise<string[]> {
  try {
    const backend = await open()
    await backend.close()
    return [`--backend ${name}: ${what}`]
  } catch {
    return []
  }
}
