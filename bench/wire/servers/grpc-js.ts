/** @grpc/grpc-js with its defaults; messages are raw buffers, so that no codec is measured. */
import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js'
import { blocks, decodeWanted, PONG, patterned, reportTo, SMALL, STREAM, type Wanted } from './echo.ts'

const raw = (message: Buffer): Buffer => message
const method = (path: string, responseStream: boolean) => ({
  path,
  requestStream: false,
  responseStream,
  requestSerialize: raw,
  requestDeserialize: raw,
  responseSerialize: raw,
  responseDeserialize: raw,
})

const definition: ServiceDefinition = { small: method(SMALL, false), stream: method(STREAM, true) }
const block = blocks(patterned)

interface Streaming {
  readonly request: Buffer
  write(message: Buffer): boolean
  once(event: 'drain', listener: () => void): void
  end(): void
}

function stream(call: Streaming, expected: Wanted = decodeWanted(call.request), sent = 0): void {
  const message = block(expected.size)
  for (let count = sent + 1; count <= expected.count; count++) {
    if (call.write(message)) continue
    call.once('drain', () => stream(call, expected, count))
    return
  }
  call.end()
}

const implementation: UntypedServiceImplementation = {
  small: (_call: unknown, answer: (error: null, message: Buffer) => void) => answer(null, PONG),
  stream: (call: Streaming) => stream(call),
}

const server = new Server()
server.addService(definition, implementation)
reportTo(
  new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    )
  }),
)
