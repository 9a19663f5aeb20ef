import type { z } from 'zod'
import { nearest } from '../../../base/nearest.ts'
import type { Limits } from '../../../model/command.ts'
import type { InstanceName } from '../../../model/instance-name.ts'
import { type SnippetFile, type SnippetRequest, snippetOf } from '../../../model/snippet.ts'
import { ENCODINGS, type Encoding } from '../../../services/snippets/output-text.ts'
import { ApiProblem } from '../../../services/snippets/snippet-problem.ts'
import { durationIn } from '../../amount-text.ts'
import { AMOUNT, type limitBody, type TaskBody, taskBody } from './task-body.ts'

/** The prefix of query parameters that filter by metadata. */
export const METADATA = 'metadata.'

/** An unknown query parameter is an error: a misspelt filter would match every task. */
export function onlyKnown(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (known.includes(name) || (known.includes(METADATA) && name.startsWith(METADATA))) continue
    const like = nearest(name, known)
    const hint = like === undefined ? '' : `: did you mean ${like}?`
    throw new ApiProblem('query', `No parameter is called ${name.slice(0, 100)}${hint}`)
  }
}

/** `wait=30s`; undefined for no wait. A longer time is reduced to the maximum, and the client asks again. */
export function waitIn(query: URLSearchParams, mostMs: number): number | undefined {
  const text = query.get('wait')
  if (text === null) return undefined
  const ms = durationIn(text)
  if (ms === undefined) throw new ApiProblem('amount', 'wait must be a duration such as "30s" or "500ms"')
  return Math.min(ms, mostMs)
}

export function encodingIn(query: URLSearchParams): Encoding {
  const text = query.get('encoding') ?? 'utf8'
  const encoding = ENCODINGS.find((each) => each === text)
  if (encoding === undefined) throw new ApiProblem('query', `encoding: must be ${ENCODINGS.join(' or ')}`)
  return encoding
}

/** Decodes and validates a request body; throws an ApiProblem that names the field. */
export function readTask(body: unknown, instance: InstanceName): SnippetRequest {
  return requestOf(checked(taskBody, body), instance)
}

/** Returns the body as the schema defines it. */
export function checked<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [first] = parsed.error.issues
  throw first === undefined ? new ApiProblem('invalid', 'The body is not a valid task') : complaint(first)
}

type Issue = z.core.$ZodIssue

function complaint(issue: Issue): ApiProblem {
  const at = issue.path.map(String).join('.').slice(0, 200)
  if (issue.code === 'unrecognized_keys') {
    const wrong = (issue.keys[0] ?? '').slice(0, 100)
    const like = nearest(wrong, fieldsAt(at))
    const where = at === '' ? wrong : `${at}.${wrong}`
    return new ApiProblem(
      'unknownField',
      `No field is called ${where}${like === undefined ? '' : `: did you mean ${like}?`}`,
    )
  }
  const said = at === '' ? 'the body' : at
  if (issue.code === 'custom' && issue.params?.kind === AMOUNT)
    return new ApiProblem('amount', `${said} ${issue.message}`)
  return new ApiProblem('invalid', `${said}: ${issue.message}`)
}

function fieldsAt(path: string): string[] {
  const { shape } = taskBody
  if (path === '') return Object.keys(shape)
  const [first = ''] = path.split('.')
  const inner = Object.hasOwn(shape, first) ? shape[first as keyof typeof shape] : undefined
  const object = inner !== undefined && 'unwrap' in inner ? inner.unwrap() : inner
  const element = object !== undefined && 'element' in object ? object.element : object
  return element instanceof Object && 'shape' in element ? Object.keys(element.shape as object) : []
}

function requestOf(body: TaskBody, instance: InstanceName): SnippetRequest {
  const { version, args, env, expectedOutput, metadata, callback, idempotencyKey, priority, group, isolation } = body
  return snippetOf({
    instance,
    language: body.language,
    version,
    files: filesOf(body),
    args: args ?? [],
    env: Object.entries(env ?? {}).map(([name, value]) => ({ name, value })),
    stdin: body.stdin === undefined ? undefined : bytesOf(body.stdin, body.stdinEncoding, 'stdin'),
    runLimits: limitsOf(body.resourceLimit),
    compileLimits: limitsOf(body.compileLimit),
    network: body.network ?? false,
    outputs: body.outputs ?? [],
    expected: expectedOutput,
    metadata: metadata ?? {},
    callback: callback && { url: callback.url, secret: callback.secret },
    idempotencyKey,
    priority,
    invocation: group,
    cacheable: body.cache ?? false,
    isolation,
  })
}

/** A file without a name gets the name that its language sets when the request is lowered to a task. */
function filesOf({ code, files = [] }: TaskBody): SnippetFile[] {
  const given = files.map(({ name = '', content, encoding }, at) => ({
    name,
    contents: bytesOf(content, encoding, `files.${at}.content`),
  }))
  if (code !== undefined) given.unshift({ name: '', contents: bytesOf(code, 'utf8', 'code') })
  if (given.length === 0) throw new ApiProblem('invalid', 'code: the request needs code or files')
  const nameless = given.findIndex(({ name }, at) => name === '' && at > 0)
  if (nameless > 0)
    throw new ApiProblem(
      'invalid',
      `files.${nameless - (code === undefined ? 0 : 1)}.name: only the first file may have no name`,
    )
  return given
}

function bytesOf(text: string, encoding: Encoding = 'utf8', field: string): Uint8Array {
  if (encoding === 'utf8') {
    if (!text.isWellFormed()) throw new ApiProblem('invalid', `${field}: is no text; send bytes as base64`)
    return Buffer.from(text)
  }
  if (!isBase64(text)) throw new ApiProblem('invalid', `${field}: is not base64`)
  return Buffer.from(text, 'base64')
}

/** Checks without a pattern over the whole text, which may be long. */
const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 &&
  !/[^A-Za-z0-9+/]/.test(text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text)

function limitsOf(body: z.output<typeof limitBody> | undefined): Limits {
  const { timeout, memory, cpu, cpuTime, processes, fileSize, output, disk } = body ?? {}
  return {
    ...(timeout !== undefined && { wallMs: timeout }),
    ...(memory !== undefined && { memoryBytes: memory }),
    ...(cpu !== undefined && { cpus: cpu }),
    ...(cpuTime !== undefined && { cpuMs: cpuTime }),
    ...(processes !== undefined && { pids: processes }),
    ...(fileSize !== undefined && { fileBytes: fileSize }),
    ...(output !== undefined && { outputBytes: output }),
    ...(disk !== undefined && { diskBytes: disk }),
  }
}
