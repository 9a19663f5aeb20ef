import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

/** A registry with a few images on this machine, for tests of pulls without a network. */
export interface TinyRegistry extends AsyncDisposable {
  /** Host and port, as in image names. */
  readonly host: string
  /** Adds a folder as an image, and returns the digest of its manifest. */
  add(repository: string, tag: string, root: string): string
  /** The number of requests for a manifest. */
  timesAsked(): number
  /** The number of all requests. */
  timesHeard(): number
}

interface Blob {
  readonly type: string
  readonly bytes: Buffer
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
const CONFIG = 'application/vnd.docker.container.image.v1+json'
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip'

export async function tinyRegistry(): Promise<TinyRegistry> {
  const blobs = new Map<string, Blob>()
  const tags = new Map<string, string>()
  let asked = 0
  let received = 0
  const keep = (type: string, bytes: Buffer): { mediaType: string; size: number; digest: string } => {
    const digest = digestOf(bytes)
    blobs.set(digest, { type, bytes })
    return { mediaType: type, size: bytes.length, digest }
  }
  const server = createServer(({ url = '', method }, response) => {
    const [, repository, kind, name = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(url) ?? []
    received++
    if (kind === 'manifests') asked++
    if (kind === undefined) return void response.writeHead(url.startsWith('/v2/') ? 200 : 404).end('{}')
    const blob = blobs.get(kind === 'manifests' ? (tags.get(`${repository}:${name}`) ?? name) : name)
    answer(response, blob, method === 'HEAD')
  })
  await listening(server)
  const { port } = server.address() as AddressInfo
  return {
    host: `127.0.0.1:${port}`,
    timesAsked: () => asked,
    timesHeard: () => received,
    add(repository, tag, root) {
      const { stdout: packed } = spawnSync('tar', ['-C', root, '-c', '.'], { maxBuffer: 1 << 28 })
      const layer = keep(LAYER, gzipSync(packed, { level: 1 }))
      const rootfs = { type: 'layers', diff_ids: [digestOf(packed)] }
      const described = { architecture: 'amd64', os: 'linux', config: { Env: ['PATH=/bin'] }, rootfs, history: [] }
      const config = keep(CONFIG, Buffer.from(JSON.stringify(described)))
      const manifest = { schemaVersion: 2, mediaType: MANIFEST, config, layers: [layer] }
      const { digest } = keep(MANIFEST, Buffer.from(JSON.stringify(manifest)))
      tags.set(`${repository}:${tag}`, digest)
      return digest
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answer(response: ServerResponse, blob: Blob | undefined, isHead: boolean): void {
  if (blob === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' })
    return void response.end(JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }))
  }
  response.writeHead(200, {
    'content-type': blob.type,
    'content-length': blob.bytes.length,
    'docker-content-digest': digestOf(blob.bytes),
  })
  response.end(isHead ? undefined : blob.bytes)
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const listening = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
