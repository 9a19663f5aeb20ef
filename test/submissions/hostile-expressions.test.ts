// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are expressions of CWL
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorkflowServer, type WorkflowServer } from './workflow-server.ts'

let server: WorkflowServer
beforeAll(async () => {
  const env = {
    WINDLASS_CWL_MAX_EXPRESSION_SECONDS: '60',
    WINDLASS_CWL_MAX_SUBMISSION_EXPRESSION_SECONDS: '2',
  }
  server = await startWorkflowServer({ workers: 1, env })
})
afterAll(() => server?.stop())

const requirements = { InlineJavascriptRequirement: {} }
const expressionTool = (expression: string): object => ({
  ...{ cwlVersion: 'v1.2', class: 'ExpressionTool', requirements, inputs: {}, outputs: { out: 'Any' }, expression },
})
/** Expressions in a workflow with a scatter of 20. */
const honest = {
  ...{ cwlVersion: 'v1.2', class: 'Workflow' },
  requirements: { ...requirements, ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {} },
  inputs: {},
  outputs: { words: { type: 'string[]', outputSource: 'say/word' }, sum: { type: 'int', outputSource: 'add/out' } },
  steps: {
    list: {
      ...{ in: {}, out: ['list'] },
      run: {
        ...{ class: 'ExpressionTool', inputs: {}, outputs: { list: 'int[]' } },
        expression: '${ var list = []; for (var i = 0; i < 20; i++) list.push(i); return { list: list } }',
      },
    },
    add: {
      ...{ in: { list: 'list/list' }, out: ['out'] },
      run: {
        ...{ class: 'ExpressionTool', inputs: { list: 'int[]' }, outputs: { out: 'int' } },
        expression: '$({ out: inputs.list.reduce(function (a, b) { return a + b }, 0) })',
      },
    },
    say: {
      ...{ in: { n: { source: 'list/list', valueFrom: '$(self + 1)' } }, scatter: 'n', out: ['word'] },
      run: {
        ...{ class: 'ExpressionTool', inputs: { n: 'int' }, outputs: { word: 'string' } },
        expression: '$({ word: "n" + inputs.n })',
      },
    },
  },
}

interface Submission {
  readonly id: string
  readonly state: string
  readonly outputs?: unknown
  readonly error?: { readonly message: string }
}

async function call(path: string, body?: object): Promise<Submission> {
  const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await fetch(`${server.url}/api/v1/submissions${path}`, init)
  return ((await answer.json()) as { data: Submission }).data
}

const submit = async (workflow: object, instance = ''): Promise<string> =>
  (await call('', { workflow, inputs: {}, instance })).id

async function untilOver(id: string): Promise<Submission> {
  for (;;) {
    const now = await call(`/${id}`)
    if (now.state !== 'PENDING' && now.state !== 'RUNNING') return now
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A loop, and a builtin call that does not check QuickJS's interrupt handler. */
const HOSTILE = [
  '${while(1){}}',
  '${ return Array.prototype.indexOf.call({ length: Number.MAX_SAFE_INTEGER }, 1) }',
].map(expressionTool)

test.each([
  ['of another instance', 'other'],
  ['of the same instance', ''],
])(
  'ten hostile submissions end with a reason, and a workflow %s is not delayed by them',
  async (_, instance) => {
    const hostile: string[] = []
    for (let at = 0; at < 10; at += 1) hostile.push(await submit(HOSTILE[at % 2] ?? {}))
    const ended = await untilOver(await submit(honest, instance))
    expect(ended).toMatchObject({ state: 'COMPLETED', outputs: { sum: 190 } })
    const [first = '', ...others] = hostile
    for (const id of others) await call(`/${id}/cancel`, {})
    const { state, error } = await untilOver(first)
    expect(state).toBe('FAILED')
    expect(error?.message).toMatch(/used more than 2 s of processor time, the limit of one submission/)
  },
  120_000,
)
