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

/** Under both names: clients ask for v1 first and older ones know v1alpha only. */
const NAMES = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'] as const

const readRequest = refusingMalformed(reflectionRequestFromProto)

/** Tells generic clients what this server speaks. `services` is asked anew each time; these two are added to it. */
export function reflection(descriptorSet: Uint8Array, services: () => readonly string[]): Service[] {
  // Most servers are never asked: the index waits for the first question.
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

/** One stream's worth of answers: it remembers what it has sent. */
function answering(index: DescriptorIndex, services: () => readonly string[]) {
  const sent = new Set<string>()
  const fileOr = (file: DescribedFile | undefined, asked: string): ReflectionAnswer =>
    file ? { tell: 'files', files: withImports(file, index, sent) } : notFound(asked)

  return (question: ReflectionQuestion): ReflectionAnswer => {
    switch (question.ask) {
      case 'services':
        return { tell: 'services', names: services() }
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
          ? { tell: 'extensionNumbers', extendee: question.extendee, numbers }
          : notFound(`type ${question.extendee}`)
      }
      case 'unknown':
        return { tell: 'error', code: STATUS.invalidArgument, message: 'no question that this server knows' }
    }
  }
}

const notFound = (what: string): ReflectionAnswer => ({
  tell: 'error',
  code: STATUS.notFound,
  message: `${what} not found`,
})

/**
 * The file asked for, then what it imports, near ones first. An import goes out once per stream; the file itself
 * always does, for clients take an answer without it for a failure.
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
