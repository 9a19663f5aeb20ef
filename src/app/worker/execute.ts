import { mkdirSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { type DigestFunction, digestFunctionByHexLength } from '../../base/digest.ts'
import { parseDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { Target } from '../../client/connection/target.ts'
import type { ClientTls } from '../../grpc/client/channel.ts'
import type { TaskResult } from '../../model/command-task.ts'
import { attemptPipeline } from '../../worker/attempt/pipeline.ts'
import { fetchedActionTask } from '../../worker/attempt/run-lease.ts'
import type { Backend } from '../config/backends.ts'
import { network } from '../config/network.ts'
import { worker } from '../config/worker.ts'
import { channelTo } from './target.ts'
import { openWorkerTools } from './tools.ts'
import { commandUser } from './user.ts'
import { holdWorkFolder } from './work-folder.ts'

export interface ExecuteActionOptions {
  readonly target: Target
  readonly tls: ClientTls
  readonly headers: Readonly<Record<string, string>>
  /** `hash/size` */
  readonly actionDigest: string
  /** Derived from the length of the hash by default. */
  readonly digestFunction: DigestFunction | undefined
  readonly instance: string
  readonly workDir: string
  readonly backend: Backend
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly stdout: (bytes: Uint8Array) => void
  readonly stderr: (bytes: Uint8Array) => void
}

/** Runs one action from a store and uploads its outputs there: a worker without a server. */
export async function executeOnce(order: ExecuteActionOptions, clock: Clock, signal: AbortSignal): Promise<TaskResult> {
  const fn = order.digestFunction ?? digestFunctionByHexLength(order.actionDigest.indexOf('/'))
  if (fn === undefined) throw invalid(`--action-digest: ${order.actionDigest} is not hash/size`)
  const actionDigest = parseDigest(order.actionDigest, fn)
  const channel = channelTo(order.target, { clock, tls: order.tls, headers: order.headers })
  mkdirSync(order.workDir, { recursive: true })
  const user = commandUser(undefined, process.getuid?.() ?? 0)
  const folder = holdWorkFolder({ named: order.workDir, dataDir: order.workDir, pid: process.pid, user })
  try {
    const tools = await openWorkerTools({
      worker: 'execute',
      backend: order.backend,
      folder: folder.path,
      cacheBytes: 1024 ** 3,
      env: order.env,
      user,
      defaults: worker.parse({}), // defaults unless configured
      containers: worker.parse({}).docker,
      network: network.parse({}),
      surroundings: process.env,
      cas: channel,
      clock,
    })
    try {
      const { tools: all, source } = tools.of(order.instance)
      const task = await fetchedActionTask(actionDigest, source, signal)
      const hooks = { stdout: order.stdout, stderr: order.stderr }
      return await attemptPipeline(all).execute({ name: `execute-${process.pid}`, task, hooks }, signal)
    } finally {
      await tools.close()
    }
  } finally {
    channel.close()
    folder.release()
  }
}
