import type { Incoming, Outgoing, Service } from '../../../grpc/service.ts'
import { STATUS } from '../../../grpc/status.ts'
import {
  type ReflectionAnswer,
  type ReflectionQuestion,
  reflectionRequestFromProto,
  reflectionResponseToProto,
} from '../../../wire/admin/reflection.ts'
import type { DescribedFile } from '../../../wire/descriptors.ts'
import { refusingMalformed } from '../refuse-malformed.ts'
import { type DescriptorIndex, descriptorIndex } from './descriptor-index.ts'

/** Served under both names: clients try v1 first, and older clients know v1alpha only. */
const NAMES = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'] as const

const readRequest = refusingMalformed(reflectionRequestFromProto)

/**
 * Describes the services of this server to generic clients. `services` is called for each request; these two are added.
 */
export function reflection(descriptorSet: Uint8Array, services: () => readonly string[]): Service[] {
  // Built at the first request: most servers never get one.
  let index: DescriptorIndex | undefined

  async function handle(requests: Incoming, out: Outgoing): Promise<void> {
    index ??= descriptorIndex(descriptorSet)
    const answer = answering(index, () => [...new Set([...services(), ...NAMES])].sort())
    for await (const bytes of requests) {
      const request = readRequest(bytes)
      const response = reflectionResponseToProto({ request, answer: answer(request.question) })
      if (!out.write(response)) await out.drained()
    }
  }

  return NAMES.map((name) => ({ name, methods: { ServerReflectionInfo: { kind: 'bidi', handle } } }))
}

/** The responses of one stream, which remembers the files that it has sent. */
function answering(index: DescriptorIndex, services: () => readonly string[]) {
  const sent = new Set<string>()
  const fileOr = (file: DescribedFile | undefined, asked: string): ReflectionAnswer =>
    file ? { kind: 'files', files: withImports(file, index, sent) } : notFound(asked)

  return (question: ReflectionQuestion): ReflectionAnswer => {
    switch (question.ask) {
      case 'services':
        return { kind: 'services', names: services() }
      case 'file':
        return fileOr(index.named(question.name), `file ${question.name}`)
      case 'symbol':
        return fileOr(index.declaring(question.symbol), `symbol ${question.symbol}`)
      case 'extension': {
        const { extendee, number } = question
        return fileOr(index.extending(extendee, number), `extension ${number} of ${extendee}`)
      }
      case 'extensionNumbers': {
        const numbers = index.extensionNumbers(question.extendee)
        return numbers
          ? { kind: 'extensionNumbers', extendee: question.extendee, numbers }
          : notFound(`type ${question.extendee}`)
      }
      case 'unknown':
        return {
          kind: 'error',
          code: STATUS.invalidArgument,
          message: 'the request is of a kind that this server does not know',
        }
    }
  }
}

const notFound = (what: string): ReflectionAnswer => ({
  kind: 'error',
  code: STATUS.notFound,
  message: `${what} not found`,
})

/**
 * The requested file, then its imports, direct ones first. An import is sent once per stream; the file itself always,
 * because clients treat an answer without it as a failure.
 */
function withImports(file: DescribedFile, index: DescriptorIndex, sent: Set<string>): Uint8Array[] {
  const queue = [file]
  const queued = new Set([file.name])
  for (const { imports } of queue) {
    for (const name of imports) {
      const next = index.named(name)
      if (next === undefined || queued.has(name)) continue
      queued.add(name)
      queue.push(next)
    }
  }
  const fresh = queue.filter((one) => one === file || !sent.has(one.name))
  for (const one of fresh) sent.add(one.name)
  return fresh.map((one) => one.bytes)
}
