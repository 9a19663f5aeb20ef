import { STATUS } from '../../../../grpc/status.ts'
import { type OperationMessage, RESPONSE_TYPE, STAGE } from '../../probe/operation-message.ts'
import type { ExecutionId } from '../../table/behaviours.ts'
import { alter, changingAction, changingResponse, type Detour, executing, readStoredAction, recoded } from './detour.ts'

/** A command over its timeout runs until the client disconnects. */
const neverEnding = executing(async function* (request, call, { methods }) {
  for await (const told of methods.execute(request, call)) {
    if (told.response?.status?.code === STATUS.deadlineExceeded) await new Promise(() => {})
    yield told
  }
})

/** Reports the timeout to the client while the command keeps running. */
const leavingItRunning = executing(async function* (request, call, right) {
  const work = await readStoredAction(request, right)
  const isTimed = work.action.timeout !== undefined
  const actionDigest = await alter(work, ({ action }) => ({ action: { ...action, timeout: undefined } }), right)
  for await (const told of right.methods.execute({ ...request, actionDigest }, call)) {
    const isStarted = told.metadata.stage === STAGE.executing
    if (isTimed && isStarted) await right.pause(1500)
    yield isTimed && isStarted ? expired(told) : told
    if (isTimed && isStarted) return
  }
})

const expired = (told: OperationMessage): OperationMessage => ({
  ...told,
  done: true,
  metadata: { ...told.metadata, stage: STAGE.completed },
  responseType: RESPONSE_TYPE,
  response: {
    result: undefined,
    cachedResult: false,
    status: { code: STATUS.deadlineExceeded, message: 'too late', details: [] },
    serverLogs: {},
    message: '',
  },
})

/** Every command with a timeout is reported as over it. */
const alwaysLate = executing(async function* (request, call, right) {
  const { action } = await readStoredAction(request, right)
  for await (const told of right.methods.execute(request, call)) {
    yield told.done && action.timeout !== undefined ? expired(told) : told
  }
})

const takingNegative = changingAction(({ action }) => ({
  action: { ...action, timeout: (action.timeout?.seconds ?? 0) < 0 ? undefined : action.timeout },
}))

export const timeoutBreaks = {
  'timeout.expired': recoded(STATUS.deadlineExceeded, STATUS.internal),
  'timeout.partial-output': changingResponse((response) =>
    response.status?.code === STATUS.deadlineExceeded ? { ...response, result: undefined } : response,
  ),
  'timeout.background': neverEnding,
  'timeout.tree-killed': leavingItRunning,
  'timeout.too-long': recoded(STATUS.invalidArgument, STATUS.unknown),
  'timeout.negative': takingNegative,
  'timeout.in-time': alwaysLate,
} satisfies Partial<Record<ExecutionId, Detour>>
