import type { DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { type Directory, nodeNameProblem, type Tree } from '../../model/directory.ts'
import { DIGEST_SHAPE, digestFromProto, digestToProto } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { NODE_PROPERTIES_SHAPE } from '../hot/result-shape.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'
import { nodePropertiesFromProto, nodePropertiesToProto } from './node-properties.ts'

/**
 * Decodes directories that are created or unpacked here. A directory that is only forwarded stays bytes, because its
 * digest is valid for those bytes only (hot/digest-reader.ts reads the digests in it).
 */
export const directoryFromProto = (bytes: Uint8Array, fn: DigestFunction): Directory =>
  directoryOf(decodeWellFormed(proto.Directory, bytes, { name: 'Directory', shape: DIRECTORY_SHAPE }), fn)

export const directoryToProto = (directory: Directory): Uint8Array =>
  proto.Directory.encode(protoOf(directory)).finish()

export function treeFromProto(bytes: Uint8Array, fn: DigestFunction): Tree {
  const shape = { 1: DIRECTORY_SHAPE, 2: DIRECTORY_SHAPE }
  const { root, children } = decodeWellFormed(proto.Tree, bytes, { name: 'Tree', shape })
  if (root === undefined) throw invalid('a tree has no root')
  return { root: directoryOf(root, fn), children: children.map((child) => directoryOf(child, fn)) }
}

export const treeToProto = ({ root, children }: Tree): Uint8Array =>
  proto.Tree.encode({ root: protoOf(root), children: children.map(protoOf) }).finish()

const DIRECTORY_SHAPE: Shape = {
  1: { 1: 'text', 2: DIGEST_SHAPE, 4: 'number', 6: NODE_PROPERTIES_SHAPE },
  2: { 1: 'text', 2: DIGEST_SHAPE },
  3: { 1: 'text', 2: 'text', 4: NODE_PROPERTIES_SHAPE },
  5: NODE_PROPERTIES_SHAPE,
}

function directoryOf(from: proto.Directory, fn: DigestFunction): Directory {
  const names = new Set<string>()
  const named = <T extends { readonly name: string }>(node: T): T => {
    const problem = names.has(node.name) ? 'comes twice' : nodeNameProblem(node.name)
    if (problem !== undefined)
      throw invalid(`in a directory, the name ${JSON.stringify(node.name.slice(0, 200))} ${problem}`)
    names.add(node.name)
    return node
  }
  return {
    files: from.files.map(named).map(({ name, digest, isExecutable, nodeProperties }) => ({
      name,
      digest: digestFromProto(digest, fn, `the file ${name}`),
      executable: isExecutable,
      properties: nodePropertiesFromProto(nodeProperties),
    })),
    directories: from.directories.map(named).map(({ name, digest }) => ({
      name,
      digest: digestFromProto(digest, fn, `the directory ${name}`),
    })),
    symlinks: from.symlinks.map(named).map(({ name, target, nodeProperties }) => ({
      name,
      target,
      properties: nodePropertiesFromProto(nodeProperties),
    })),
    properties: nodePropertiesFromProto(from.nodeProperties),
  }
}

/** Sorts the nodes, because REAPI requires that equal content has equal bytes. */
const protoOf = (from: Directory): proto.Directory => ({
  files: byName(from.files).map(({ name, digest, executable, properties }) => ({
    name,
    digest: digestToProto(digest),
    isExecutable: executable,
    nodeProperties: nodePropertiesToProto(properties),
  })),
  directories: byName(from.directories).map(({ name, digest }) => ({ name, digest: digestToProto(digest) })),
  symlinks: byName(from.symlinks).map(({ name, target, properties }) => ({
    name,
    target,
    nodeProperties: nodePropertiesToProto(properties),
  })),
  nodeProperties: nodePropertiesToProto(from.properties),
})

/** Sorts by UTF-8 bytes: JavaScript strings have another order beyond U+FFFF. */
const byName = <T extends { readonly name: string }>(nodes: readonly T[]): T[] =>
  nodes
    .map((node) => ({ node, key: Buffer.from(node.name) }))
    .sort((one, other) => Buffer.compare(one.key, other.key))
    .map(({ node }) => node)
