import { invalid } from '../../base/fault.ts'
import type { WorkerInView } from '../../model/grid-view.ts'
import { WORKER_STATES, type WorkerState } from '../../model/worker-state.ts'
import * as proto from '../gen/windlass/grid/v1/grid.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** The messages of windlass.grid.v1.GridAdmin that are about workers. */
export const workersRequestToProto = (): Uint8Array => new Uint8Array(0)

/** The message has no fields yet, but its bytes must be well-formed. */
export const workersRequestFromProto = (bytes: Uint8Array): void =>
  void decodeWellFormed(proto.ListWorkersRequest, bytes, { name: 'ListWorkersRequest', shape: {} })

/** Field 7 is left out: a shape has no type for doubles; the generated decoder checks its wire type. */
const WORKER: Shape = {
  ...{ 1: 'text', 2: 'text', 3: 'text', 4: 'number', 5: 'number', 6: { 1: 'text', 2: 'text' } },
  ...{ 8: 'number', 9: 'number', 10: 'number', 11: 'number', 12: { 1: 'text', 2: 'text' } },
}

export const workersToProto = (workers: readonly WorkerInView[]): Uint8Array =>
  proto.ListWorkersResponse.encode({
    workers: workers.map((worker) => ({
      ...worker,
      cpu: worker.cpu ?? 0,
      memoryBytes: worker.memoryBytes ?? 0,
      diskBytes: worker.diskBytes ?? 0,
    })),
  }).finish()

export const workersFromProto = (bytes: Uint8Array): readonly WorkerInView[] =>
  decodeWellFormed(proto.ListWorkersResponse, bytes, {
    name: 'ListWorkersResponse',
    shape: { 1: WORKER },
  }).workers.map((from) => ({
    ...from,
    state: stateOf(from.state),
    cpu: from.cpu || undefined,
    memoryBytes: from.memoryBytes || undefined,
    diskBytes: from.diskBytes || undefined,
  }))

function stateOf(text: string): WorkerState {
  const state = WORKER_STATES.find((one) => one === text)
  if (state === undefined) throw invalid(`${JSON.stringify(text.slice(0, 60))} is no state of a worker`)
  return state
}

export interface DrainRequest {
  readonly worker: string
  readonly shutdown: boolean
}

export const drainToProto = (request: DrainRequest): Uint8Array => proto.DrainWorkerRequest.encode(request).finish()

export const drainFromProto = (bytes: Uint8Array): DrainRequest =>
  decodeWellFormed(proto.DrainWorkerRequest, bytes, {
    name: 'DrainWorkerRequest',
    shape: { 1: 'text', 2: 'number' },
  })

export const resumeToProto = (worker: string): Uint8Array => proto.ResumeWorkerRequest.encode({ worker }).finish()

export const resumeFromProto = (bytes: Uint8Array): string =>
  decodeWellFormed(proto.ResumeWorkerRequest, bytes, { name: 'ResumeWorkerRequest', shape: { 1: 'text' } }).worker

/** Decodes responses that carry no fields. */
export const doneFromProto = (bytes: Uint8Array): void =>
  void decodeWellFormed(proto.DrainWorkerResponse, bytes, { name: 'answer', shape: {} })
