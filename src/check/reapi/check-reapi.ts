import type { Clock } from '../../base/clock.ts'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import { rpcClient } from '../../client/connection/rpc.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import { GrpcError } from '../../grpc/status.ts'
import type {
  Platform_Property,
  ServerCapabilities,
} from '../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { SemVer } from '../../wire/gen/build/bazel/semver/semver.ts'
import type { Result } from '../behaviour.ts'
import { runSuite } from '../run-suite.ts'
import { statusText } from '../unmet.ts'
import { CHECKS } from './checks.ts'
import { whyNothingRuns } from './execution/try-worker.ts'
import { type ServerOffer, serverOffer } from './probe/offer.ts'
import { createProbe } from './probe/probe.ts'
import { RPC } from './probe/rpcs.ts'
import type { BehaviourId, ReapiBehaviour } from './table/behaviours.ts'
import { unoffered } from './unoffered.ts'

export interface ReapiRun {
  readonly channel: Channel
  readonly instance: string
  readonly behaviours: readonly ReapiBehaviour[]
  readonly seed: string
  /** Platform properties of all commands. */
  readonly platform?: readonly Platform_Property[]
  readonly clock: Clock
  /** The timeout of each check. */
  readonly deadlineMs: number
  /** The maximum number of concurrent checks. */
  readonly atOnce: number
  readonly onResult?: (result: Result, done: number) => void
}

export interface ReapiReport {
  /** The server's API versions, for example `2.0 to 2.12`. */
  readonly versions: string
  readonly results: readonly Result[]
}

/** GetCapabilities failed, so nothing can be checked. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Reads the server's capabilities and runs the checks that apply. Throws Unreachable when GetCapabilities fails. */
export async function checkReapi(run: ReapiRun): Promise<ReapiReport> {
  await prepareHashing()
  const capabilities = await firstAnswer(run)
  const offer = await withWorker(serverOffer(capabilities, run.instance), run)
  const results = await runSuite({
    ...run,
    unoffered: (behaviour) => unoffered(behaviour as ReapiBehaviour, offer),
    checkOf: (id) => CHECKS[id as BehaviourId],
    probeFor: (id, signal) => createProbe({ ...run, offer, id, signal }),
  })
  return { versions: `${spelled(capabilities.lowApiVersion)} to ${spelled(capabilities.highApiVersion)}`, results }
}

/** For a server with execution, first test whether a worker runs commands. */
async function withWorker(offer: ServerOffer, run: ReapiRun): Promise<ServerOffer> {
  const isAsked = run.behaviours.some(({ needs }) => needs.includes('worker'))
  if (!isAsked || offer.execution === undefined) return offer
  const ending = new AbortController()
  const probe = createProbe({ ...run, offer, id: 'worker', signal: ending.signal })
  const idle = await whyNothingRuns(probe, run)
  ending.abort()
  return idle === undefined ? offer : { ...offer, idle }
}

async function firstAnswer({ channel, instance, deadlineMs }: ReapiRun): Promise<ServerCapabilities> {
  try {
    const rpcs = rpcClient(channel, { timeoutMs: deadlineMs })
    return await rpcs.unary(RPC.getCapabilities, { instanceName: instance })
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    throw new Unreachable(`GetCapabilities failed: ${statusText(error)}`, { cause: error })
  }
}

const spelled = (version: SemVer | undefined): string =>
  version === undefined ? 'unknown' : `${version.major}.${version.minor}`
