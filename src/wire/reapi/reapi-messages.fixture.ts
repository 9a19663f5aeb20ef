import {
  ActionResult,
  type DeepPartial,
  Directory,
  Tree,
} from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'

/** REAPI messages of any form, including forms that our encoders never write. */
export type ResultParts = DeepPartial<ActionResult>
export type TreeParts = DeepPartial<Tree>
export type DirectoryParts = DeepPartial<Directory>

export const resultBytes = (parts: ResultParts): Uint8Array =>
  ActionResult.encode(ActionResult.fromPartial(parts)).finish()

export const treeBytes = (parts: TreeParts): Uint8Array => Tree.encode(Tree.fromPartial(parts)).finish()

export const directoryBytes = (parts: DirectoryParts): Uint8Array =>
  Directory.encode(Directory.fromPartial(parts)).finish()
