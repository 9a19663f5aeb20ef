import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipOptions {
  readonly name: string
  readonly contents: string | Buffer
  readonly isStored?: boolean
  /** The size that the archive states, when it is not the real one. */
  readonly saidBytes?: number
  readonly mode?: number
  readonly flags?: number
}

/** An archive, valid or not. */
export function zipOf(files: readonly ZipOptions[], comment = ''): Buffer {
  const bodies: Buffer[] = []
  const entries: Buffer[] = []
  let at = 0
  for (const { name, contents, isStored = false, saidBytes, mode = 0o100644, flags = 0 } of files) {
    const bytes = Buffer.from(contents)
    const packed = isStored ? bytes : deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(isStored ? 0 : 8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(saidBytes ?? bytes.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE((mode << 16) >>> 0, 6)
    rest.writeUInt32LE(at, 10)
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), common, rest, Buffer.from(name)]))
    bodies.push(body)
    at += body.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(at, 12)
  end.writeUInt16LE(comment.length, 16)
  return Buffer.concat([...bodies, directory, Buffer.from('PK\x05\x06'), end, Buffer.from(comment)])
}
