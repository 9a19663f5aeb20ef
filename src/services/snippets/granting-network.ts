import { type NetworkDoor, type NetworkGrants, networkRefusal } from '../../model/properties/network-grants.ts'
import type { SnippetRequest } from '../../model/snippet.ts'
import { SnippetRefusal } from './snippet-refusal.ts'
import type { SnippetService } from './snippet-service.ts'

/** Refuses snippets that ask for a network, unless the operator grants it to their instance and this door. */
export function grantingNetwork(inner: SnippetService, door: NetworkDoor, grants: NetworkGrants): SnippetService {
  const mustBeGranted = ({ network, instance }: SnippetRequest): void => {
    if (network && !grants(door, instance)) throw new SnippetRefusal('network', networkRefusal(door, instance))
  }
  return {
    ...inner,
    async submit(scope, request, durability) {
      mustBeGranted(request)
      return await inner.submit(scope, request, durability)
    },
    async run(scope, request, limit) {
      mustBeGranted(request)
      return await inner.run(scope, request, limit)
    },
    async rerun(scope, id) {
      // The grant may have been taken back since it ran.
      const before = await inner.find(scope, id)
      if (before !== undefined) mustBeGranted(before.request)
      return await inner.rerun(scope, id)
    },
  }
}
