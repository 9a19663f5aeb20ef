import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../../base/clock.ts'
import { FaultError } from '../../../base/fault.ts'
import type { StagedNode, Stager } from '../../../stagers/stager.ts'
import type { TreeStore } from '../../../stagers/tree-store.ts'
import type { ExpressionPool } from '../../../workflow/expressions/expression-pool.ts'
import { mayBeDelayed, messageBatches } from './message-batches.ts'
import { type RunPorts, runWorkflow, type WorkflowRun } from './run-workflow.ts'
import type { StepResult } from './step-grid.ts'
import type { DriverQuestion, FromDriverThread, ToDriverThread } from './thread-messages.ts'
import { type PlainBlobs, treeStore } from './tree-blobs.ts'

interface Course {
  readonly submission: string
  /** The number of open questions. */
  open: number
}

export interface ServingRuns {
  readonly clock: Clock
  readonly expressions: ExpressionPool
  readonly outputJsonBytes: number
  /** Stagers that work on this thread. All other locations are sent to `remote`, the stagers of the main thread. */
  readonly stagerOf: (trees: TreeStore, remote: Stager) => Stager
}

/** Drives workflow runs in a thread. The grid and the store are in the main thread, which is asked by message. */
export function serveRuns(port: MessagePort, { clock, expressions, outputJsonBytes, stagerOf }: ServingRuns): void {
  const say = messageBatches<FromDriverThread>((list) => port.postMessage(list), clock)
  const open = new Map<number, PromiseWithResolvers<unknown>>()
  const leaving = new Map<string, AbortController>()
  let questions = 0
  const ask = (course: Course, about: DriverQuestion): Promise<unknown> => {
    const question = ++questions
    const answer = Promise.withResolvers<unknown>()
    open.set(question, answer)
    course.open += 1
    say({ kind: 'question', question, submission: course.submission, ask: about }, mayBeDelayed(course.open))
    return answer.promise.finally(() => {
      course.open -= 1
    })
  }
  const drive = async (run: WorkflowRun): Promise<void> => {
    const submission = run.id
    const leave = new AbortController()
    const course: Course = { submission, open: 0 }
    leaving.set(submission, leave)
    try {
      const ports = { ...portsOf((about) => ask(course, about), stagerOf), expressions, outputJsonBytes }
      const ended: RunPorts['ended'] = (end) => say({ kind: 'ended', submission, end }, mayBeDelayed(course.open))
      say({ kind: 'over', submission, outcome: await runWorkflow(run, { ...ports, ended, signal: leave.signal }) })
    } catch (error) {
      say({ kind: 'broken', submission, what: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    } finally {
      leaving.delete(submission)
    }
  }
  const receive = (message: ToDriverThread): void => {
    if (message.kind === 'run') void drive(message.run)
    else if (message.kind === 'cancel') leaving.get(message.submission)?.abort()
    else {
      const answer = open.get(message.question)
      open.delete(message.question)
      if (message.kind === 'answer') answer?.resolve(message.value)
      else answer?.reject(new FaultError(message.fault))
    }
  }
  port.on('message', (list: readonly ToDriverThread[]) => {
    for (const message of list) receive(message)
  })
}

type AskedPorts = Pick<RunPorts, 'trees' | 'stager' | 'runStep' | 'runsImages'>

function portsOf(ask: (about: DriverQuestion) => Promise<unknown>, stagerOf: ServingRuns['stagerOf']): AskedPorts {
  const blobs: PlainBlobs = {
    has: async (digest) => (await ask({ what: 'has', digest })) === true,
    read: async (digest, limit) => (await ask({ what: 'read', digest, limit })) as Uint8Array | undefined,
    async put(digest, bytes) {
      await ask({ what: 'put', digest, bytes })
    },
  }
  const trees = treeStore(blobs, 'sha256')
  return {
    trees,
    stager: stagerOf(trees, remoteStager(ask)),
    runStep: async (step) => (await ask({ what: 'step', step })) as StepResult,
    runsImages: async (inPlaces) => (await ask({ what: 'images', inPlaces })) === true,
  }
}

/** The stagers of the main thread. Their locations contain no digest that could be read here. */
const remoteStager = (ask: (about: DriverQuestion) => Promise<unknown>): Stager => ({
  find: async (location) => (await ask({ what: 'find', location })) as StagedNode | undefined,
  put: async (node, to) => (await ask({ what: 'stage-out', node, to })) as string,
  named: () => undefined,
})
