import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { DESCRIPTORS } from '../gen/descriptors.ts'

/** A google.protobuf.FileDescriptorSet of every protocol of this project, for reflection. */
export function descriptorSet(): Uint8Array {
  const writer = new BinaryWriter()
  for (const base64 of Object.values(DESCRIPTORS)) writer.uint32(10).bytes(Buffer.from(base64, 'base64'))
  return writer.finish()
}
