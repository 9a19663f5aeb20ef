import { z } from 'zod'
import { API_CODES, type ApiCodeName } from '../../../services/snippets/problem-codes.ts'
import { API_OPERATIONS, type ApiOperation, type ApiParameter } from './operations.ts'

type Json = Readonly<Record<string, unknown>>

/** The API as an OpenAPI 3.1 document, made from the schemas that requests are read by. */
export const openApi = (version: string): Json => ({ ...document(), info: { ...INFO, version } })

const INFO = {
  title: 'Windlass code API',
  description:
    'Run programs in many languages. Every response is an envelope: code 0 with data, or another code with a message.',
}

let made: Json | undefined

/** Built once, because the schemas do not change. */
function document(): Json {
  made ??= {
    openapi: '3.1.0',
    info: INFO,
    security: [{}, { bearer: [] }],
    paths: pathsOf(API_OPERATIONS),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: schemaOf(PROBLEM, 'output') },
    },
  }
  return made
}

const PROBLEM = z.object({
  code: z.number().int(),
  message: z.string(),
  detail: z.string().optional(),
  retryAfter: z.number().optional().describe('Seconds.'),
})

function pathsOf(operations: readonly ApiOperation[]): Json {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = paths[operation.path] ?? {}
    paths[operation.path] = path
    path[operation.method] = operationObject(operation)
  }
  return paths
}

const operationObject = ({ name, summary, parameters, body, answer, status = 200, problems }: ApiOperation): Json => ({
  operationId: name,
  summary,
  ...(parameters && { parameters: parameters.map(parameterObject) }),
  ...(body && {
    requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body, 'input') } } },
  }),
  responses: { [status]: answerObject(answer), ...problemObjects(problems) },
})

const parameterObject = ({ name, in: place, about }: ApiParameter): Json => ({
  name,
  in: place,
  description: about,
  ...(place === 'path' && { required: true }),
  schema: { type: 'string' },
})

function answerObject(answer: ApiOperation['answer']): Json {
  if (!(answer instanceof z.ZodType))
    return { description: answer.about, content: { [answer.type]: { schema: { type: 'string' } } } }
  const envelope = z.object({ code: z.literal(0), message: z.literal('success'), data: answer })
  return { description: 'Success.', content: { 'application/json': { schema: schemaOf(envelope, 'output') } } }
}

/** Codes that share an HTTP status share its row. */
function problemObjects(names: readonly ApiCodeName[]): Json {
  const byStatus = new Map<number, string[]>()
  for (const name of [...names, 'bug'] as const) {
    const { code, status, message } = API_CODES[name]
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${code} ${message}`])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, said]) => [
      status,
      {
        description: said.join('; '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
