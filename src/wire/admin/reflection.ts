import { ServerReflectionRequest, ServerReflectionResponse } from '../gen/grpc/reflection/v1/reflection.ts'

/** Serves grpc.reflection.v1 and v1alpha alike: only their names differ, the bytes do not. */
export interface ReflectionRequest {
  /** Returned unchanged in the response. */
  readonly host: string
  readonly question: ReflectionQuestion
}

export type ReflectionQuestion =
  | { readonly ask: 'services' }
  | { readonly ask: 'file'; readonly name: string }
  | { readonly ask: 'symbol'; readonly symbol: string }
  | { readonly ask: 'extension'; readonly extendee: string; readonly number: number }
  | { readonly ask: 'extensionNumbers'; readonly extendee: string }
  /** A request kind that this version of the protocol does not have. */
  | { readonly ask: 'unknown' }

export type ReflectionAnswer =
  | { readonly kind: 'services'; readonly names: readonly string[] }
  /** Serialised google.protobuf.FileDescriptorProto messages. The requested file is the first. */
  | { readonly kind: 'files'; readonly files: readonly Uint8Array[] }
  | { readonly kind: 'extensionNumbers'; readonly extendee: string; readonly numbers: readonly number[] }
  /** One request failed; the stream stays open. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }

export interface ReflectionResponse {
  readonly request: ReflectionRequest
  readonly answer: ReflectionAnswer
}

export const reflectionRequestFromProto = (bytes: Uint8Array): ReflectionRequest =>
  requestOf(ServerReflectionRequest.decode(bytes))

export const reflectionRequestToProto = (request: ReflectionRequest): Uint8Array =>
  ServerReflectionRequest.encode(requestProto(request)).finish()

export function reflectionResponseFromProto(bytes: Uint8Array): ReflectionResponse {
  const response = ServerReflectionResponse.decode(bytes)
  return { request: requestOf(response.originalRequest), answer: answerOf(response) }
}

export const reflectionResponseToProto = ({ request, answer }: ReflectionResponse): Uint8Array =>
  ServerReflectionResponse.encode({
    ...ServerReflectionResponse.create(),
    validHost: request.host,
    originalRequest: requestProto(request),
    ...answerProto(answer),
  }).finish()

function requestOf(proto: ServerReflectionRequest | undefined): ReflectionRequest {
  return { host: proto?.host ?? '', question: proto ? questionOf(proto) : { ask: 'unknown' } }
}

function questionOf(proto: ServerReflectionRequest): ReflectionQuestion {
  if (proto.listServices !== undefined) return { ask: 'services' }
  if (proto.fileByFilename !== undefined) return { ask: 'file', name: proto.fileByFilename }
  if (proto.fileContainingSymbol !== undefined) return { ask: 'symbol', symbol: proto.fileContainingSymbol }
  if (proto.fileContainingExtension !== undefined) {
    const { containingType, extensionNumber } = proto.fileContainingExtension
    return { ask: 'extension', extendee: containingType, number: extensionNumber }
  }
  if (proto.allExtensionNumbersOfType !== undefined)
    return { ask: 'extensionNumbers', extendee: proto.allExtensionNumbersOfType }
  return { ask: 'unknown' }
}

function requestProto({ host, question }: ReflectionRequest): ServerReflectionRequest {
  const base = { ...ServerReflectionRequest.create(), host }
  switch (question.ask) {
    case 'services':
      return { ...base, listServices: '*' }
    case 'file':
      return { ...base, fileByFilename: question.name }
    case 'symbol':
      return { ...base, fileContainingSymbol: question.symbol }
    case 'extension': {
      const { extendee, number } = question
      return { ...base, fileContainingExtension: { containingType: extendee, extensionNumber: number } }
    }
    case 'extensionNumbers':
      return { ...base, allExtensionNumbersOfType: question.extendee }
    case 'unknown':
      return base
  }
}

function answerOf(proto: ServerReflectionResponse): ReflectionAnswer {
  if (proto.fileDescriptorResponse) return { kind: 'files', files: proto.fileDescriptorResponse.fileDescriptorProto }
  if (proto.listServicesResponse)
    return { kind: 'services', names: proto.listServicesResponse.service.map(({ name }) => name) }
  if (proto.allExtensionNumbersResponse) {
    const { baseTypeName, extensionNumber } = proto.allExtensionNumbersResponse
    return { kind: 'extensionNumbers', extendee: baseTypeName, numbers: extensionNumber }
  }
  const { errorCode, errorMessage } = proto.errorResponse ?? { errorCode: 2, errorMessage: 'empty answer' }
  return { kind: 'error', code: errorCode, message: errorMessage }
}

function answerProto(answer: ReflectionAnswer): Partial<ServerReflectionResponse> {
  switch (answer.kind) {
    case 'services':
      return { listServicesResponse: { service: answer.names.map((name) => ({ name })) } }
    case 'files':
      return { fileDescriptorResponse: { fileDescriptorProto: answer.files } }
    case 'extensionNumbers':
      return {
        allExtensionNumbersResponse: { baseTypeName: answer.extendee, extensionNumber: answer.numbers },
      }
    case 'error':
      return { errorResponse: { errorCode: answer.code, errorMessage: answer.message } }
  }
}
