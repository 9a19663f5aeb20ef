import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { OWN_LIMITS, openExpressions } from '../../app/cwl/expressions.ts'
import { systemClock } from '../../app/process/clock.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { httpAddress } from '../../client/connection/server-addresses.ts'
import type { Target } from '../../client/connection/target.ts'
import { httpBlobs } from '../../client/workflows/blobs.ts'
import type { JsonRecord, RemoteSubmission } from '../../client/workflows/client.ts'
import { submissionsClient } from '../../client/workflows/client.ts'
import { type ApiCaller, apiCaller } from '../../client/workflows/http.ts'
import { inputUploads } from '../../client/workflows/upload.ts'
import { localFiles } from '../../cwl-runner/files/local-files.ts'
import type { RunWatch } from '../../cwl-runner/machine.ts'
import type { OpenedProcess } from '../../cwl-runner/open-process.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import type { StepOutcome } from '../../workflow/run/state.ts'
import type { ValueRecord } from '../../workflow/values/value.ts'
import { headersOf, targetOf, tlsOf } from '../session/dial.ts'
import type { DialOptions } from '../session/dial-flags.ts'
import { followSubmission } from './follow.ts'
import { packRequest } from './inputs.ts'
import { fetchOutputs } from './outputs.ts'

export interface ServerFlags extends DialOptions {
  readonly instance: string
  readonly label?: readonly string[]
  readonly quiet?: true
}

export interface ServerRun extends OpenedProcess {
  readonly name: string
  readonly flags: ServerFlags & { readonly server: string }
  /** The output directory, by its real path. */
  readonly outdir: string
  readonly watch: RunWatch
  /** Bytes uploaded so far. */
  readonly sent: (bytes: number) => void
  readonly signal: AbortSignal
}

/** Runs a workflow on a server: uploads its inputs and fetches its outputs. */
export async function runOnServer(run: ServerRun): Promise<StepOutcome> {
  const { flags, outdir, signal, watch } = run
  const { instance } = flags
  const problem = instanceNameProblem(instance)
  if (problem !== undefined) throw invalid(`--instance: the name ${problem}`)
  const caller = await callerFor(flags)
  const rooms = mkdtempSync(join(outdir, '.windlass-'))
  const files = localFiles(rooms)
  const client = submissionsClient(caller, signal)
  const expressions = openExpressions(OWN_LIMITS)
  const blobs = httpBlobs({ caller, instance, signal, sent: run.sent })
  let id: string | undefined
  try {
    const share = { instance, submission: '' }
    const evaluated = expressions.expressionsOf(share, signal)
    const order = await packRequest(run, { files, uploads: inputUploads(blobs), expressions: evaluated })
    const labels = labelsOf(flags.label ?? [])
    const created = await client.create({ ...(order as Packed), name: basename(run.name), instance, labels })
    id = created.id
    const steps = flags.quiet ? 'failed' : 'all'
    const ended = await followSubmission(id, { client, watch, steps, clock: systemClock, signal })
    const fetching = { blobs, submission: id, outdir, rooms, files }
    return await outcomeOf(ended, (outputs) => fetchOutputs(outputs, fetching))
  } catch (error) {
    // No client is left to fetch its outputs.
    if (signal.aborted && id !== undefined) await client.cancel(id).catch(() => {})
    throw signal.aborted ? new FaultError({ kind: 'cancelled', what: 'it was cancelled' }) : error
  } finally {
    await expressions.close()
    caller.close()
    await rm(rooms, { recursive: true, force: true })
  }
}

type Packed = { readonly workflow: JsonRecord; readonly inputs: JsonRecord; readonly schemas: Record<string, string> }

async function outcomeOf(
  { state, outputs, error }: RemoteSubmission,
  fetch: (outputs: ValueRecord) => Promise<ValueRecord>,
): Promise<StepOutcome> {
  if (state === 'COMPLETED') return { kind: 'done', outputs: await fetch((outputs ?? {}) as ValueRecord) }
  const { step = '', message = 'it was cancelled', unsupported = false } = error ?? {}
  return { kind: 'failed', path: step, why: message, ...(unsupported && { unsupported: true }) }
}

/** The server's HTTP address, which it reports on either of its ports. */
async function callerFor(flags: ServerRun['flags']): Promise<ApiCaller> {
  const headers = headersOf(flags.header)
  const prefixed = /^https?:\/\/[^/]+\/./.test(flags.server) ? URL.parse(flags.server) : null
  const target = targetOf('--server', prefixed?.origin ?? flags.server)
  const tls = tlsOf(target, flags)
  // An address with a path is a proxy, which is used as it is.
  if (prefixed !== null) return apiCaller({ url: prefixed, tls, headers })
  const address = await httpAddress(target, { clock: systemClock, tls })
  if (address === undefined && target.byHttp !== true && !('path' in target.address))
    throw new FaultError({ kind: 'unavailable', what: `${flags.server}: ${UNREPORTED}` })
  return apiCaller({ url: urlAt(address ?? target.address, target.secure), tls, headers })
}

const UNREPORTED =
  'no Windlass server reports its HTTP address there; is one running? --server also takes its HTTP address, http://host:port'

function urlAt(address: Target['address'], secure: boolean): URL {
  if ('path' in address) throw invalid(`--server: HTTP is served on ${address.path}: give an address with a port`)
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return new URL(`${secure ? 'https' : 'http'}://${host}:${address.port}`)
}

const labelsOf = (texts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text): [string, string] => {
      const at = text.indexOf('=')
      if (at < 1) throw invalid(`--label: ${text} is not name=value`)
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
