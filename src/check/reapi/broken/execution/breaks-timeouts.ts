import { STATUS } from '../../../../grpc/status.ts'
import { type OperationMessage, RESPONSE_TYPE, STAGE } from '../../probe/operation-message.ts'
import type { ExecutionId } from '../../table/behaviours.ts'
import { alter, changingAction, changingResponse, type Detour, executing, readStoredAction, recoded } from './detour.ts'

/** A command over its timeout runs until the client disconnects. */
const neverEnding = executing(async function* (request, call, { methods }) {
  for await (const message of methods.execute(request, call)) {
    if (message.response?.status?.code === STATUS.deadlineExceeded) await new Promise(() => {})
    yield message
  }
})

/** Reports the timeout to the client while the command keeps running. */
const leavingItRunning = executing(async function* (request, call, right) {
  const work = await readStoredAction(request, right)
  const isTimed = work.action.timeout !== undefined
  const actionDigest = await alter(work, ({ action }) => ({ action: { ...action, timeout: undefined } }), right)
  for await (const message of right.methods.execute({ ...request, actionDigest }, call)) {
    const isStarted = message.metadata.stage === STAGE.executing
    if (isTimed && isStarted) await right.pause(1500)
    yield isTimed && isStarted ? expired(message) : message
    if (isTimed && isStarted) return
  }
})

const expired = (message: OperationMessage): OperationMessage => ({
  ...message,
  done: true,
  metadata: { ...message.metadata, stage: STAGE.completed },
  responseType: RESPONSE_TYPE,
  response: {
    result: undefined,
    cachedResult: false,
    status: { code: STATUS.deadlineExceeded, message: 'too late', details: [] },
    serverLogs: {},
    message: '',
  },
})

/** Reports that every command with a timeout has exceeded it. */
const alwaysLate = executing(async function* (request, call, right) {
  const { action } = await readStoredAction(request, right)
  for await (const message of right.methods.execute(request, call)) {
    yield message.done && action.timeout !== undefined ? expired(message) : message
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
