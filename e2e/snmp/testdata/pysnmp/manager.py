# SPDX-License-Identifier: Apache-2.0
"""manager.py HOST PORT OID... gets all OIDs in one request, and prints each answer."""
import asyncio
import sys

from pysnmp.hlapi.v3arch.asyncio import (CommunityData, ContextData, ObjectIdentity, ObjectType, SnmpEngine, UdpTransportTarget,
                                         UsmUserData, getCmd, usmAesCfb128Protocol, usmHMAC192SHA256AuthProtocol)


async def main(host, port, oids):
    engine = SnmpEngine()
    noc = {"authKey": "authenticate-me", "privKey": "encrypt-me-too", "authProtocol": usmHMAC192SHA256AuthProtocol, "privProtocol": usmAesCfb128Protocol}
    plain = {"authKey": "authenticate-me", "authProtocol": usmHMAC192SHA256AuthProtocol}
    for what, user, context in [("v2c", CommunityData("public"), ""), ("encrypted", UsmUserData("noc", **noc), ""), ("authenticated", UsmUserData("plain", **plain), ""),
                                ("unknown user", UsmUserData("unknown", **plain), ""), ("unknown context", UsmUserData("plain", **plain), "other")]:
        target = await UdpTransportTarget.create((host, int(port)), timeout=5, retries=1)
        found, status, _, variables = await getCmd(engine, user, target, ContextData(contextName=context), *[ObjectType(ObjectIdentity(o)) for o in oids], lookupMib=False)
        print(f"{what}: {found or 'answered'}, {int(status)}, {len(variables)} variables")


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
