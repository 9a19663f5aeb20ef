/**
 * A program in the fragment of an address, which browsers do not send to any server. It is compressed and encoded as
 * base64url. `v1.` names the encoding, so that old links stay readable when it changes.
 */
export interface Shared {
  readonly language: string
  readonly version?: string
  readonly code: string
  readonly stdin: string
}

const FORM = 'v1.'
/** Limit of the unpacked size: any link may come from a stranger, and a few bytes can unpack to any size. */
const MOST_BYTES = 1024 * 1024

export async function shareFragment({ language, version, code, stdin }: Shared): Promise<string> {
  const text = JSON.stringify({ language, ...(version !== undefined && { version }), code, stdin })
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return FORM + base64url(new Uint8Array(await new Response(packed).arrayBuffer()))
}

/** Undefined when the fragment contains no readable program. */
export async function sharedIn(fragment: string): Promise<Shared | undefined> {
  const word = fragment.replace(/^#/, '')
  if (!word.startsWith(FORM)) return undefined
  try {
    const packed = new Blob([bytesOf(word.slice(FORM.length))]).stream()
    const bytes = await upTo(MOST_BYTES, packed.pipeThrough(new DecompressionStream('deflate-raw')))
    return bytes === undefined ? undefined : checked(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return undefined
  }
}

function checked(json: unknown): Shared | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { language, version, code, stdin } = json as Record<string, unknown>
  if (typeof language !== 'string' || typeof code !== 'string' || typeof stdin !== 'string') return undefined
  return { language, ...(typeof version === 'string' && { version }), code, stdin }
}

async function upTo(most: number, stream: ReadableStream<Uint8Array>): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done || value === undefined) break
    size += value.length
    if (size > most) {
      await reader.cancel()
      return undefined
    }
    pieces.push(new Uint8Array(value))
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer())
}

function base64url(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function bytesOf(word: string): Uint8Array<ArrayBuffer> {
  const text = atob(word.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(text, (sign) => sign.charCodeAt(0))
}
