// SPDX-License-Identifier: Apache-2.0

import java.nio.charset.StandardCharsets;
import org.snmp4j.*;
import org.snmp4j.event.ResponseEvent;
import org.snmp4j.mp.*;
import org.snmp4j.security.*;
import org.snmp4j.smi.*;
import org.snmp4j.transport.DefaultUdpTransportMapping;

/** Manager HOST/PORT OID... gets all OIDs in one request, and prints each message that arrives. */
public class Manager {
    static final PDU[] last = new PDU[1];
    static Snmp snmp;
    static String address;

    public static void main(String[] args) throws Exception {
        address = "udp:" + args[0];
        MPv3 mp = new MPv3(MPv3.createLocalEngineID());
        snmp = new Snmp(new MessageDispatcherImpl(), new DefaultUdpTransportMapping());
        snmp.getMessageDispatcher().addMessageProcessingModel(new MPv2c());
        snmp.getMessageDispatcher().addMessageProcessingModel(mp);
        SecurityProtocols.getInstance().addDefaultProtocols();
        USM usm = new USM(SecurityProtocols.getInstance(), new OctetString(mp.getLocalEngineID()), 0);
        SecurityModels.getInstance().addSecurityModel(usm);
        for (String user : new String[] {"noc", "plain"}) {
            for (String pass : new String[] {"", "-wrong"}) {
                usm.addUser(new UsmUser(new OctetString(user + pass), AuthHMAC192SHA256.ID, new OctetString("authenticate-me" + pass),
                    user.equals("noc") ? PrivAES128.ID : null, user.equals("noc") ? new OctetString("encrypt-me-too") : null));
            }
        }
        usm.addUser(new UsmUser(new OctetString("unknown"), AuthHMAC192SHA256.ID, new OctetString("authenticate-me"), null, null));
        snmp.listen();

        CommunityTarget<Address> community = new CommunityTarget<>(GenericAddress.parse(address), new OctetString("public"));
        community.setVersion(SnmpConstants.version2c);
        ask("v2c", community, new PDU(), args);
        ask("encrypted", target("noc", SecurityLevel.AUTH_PRIV), new ScopedPDU(), args);
        ask("authenticated", target("plain", SecurityLevel.AUTH_NOPRIV), new ScopedPDU(), args);
        ask("unknown user", target("unknown", SecurityLevel.AUTH_NOPRIV), new ScopedPDU(), args);
        ScopedPDU other = new ScopedPDU();
        other.setContextName(new OctetString("other"));
        ask("unknown context", target("plain", SecurityLevel.AUTH_NOPRIV), other, args);
        // An engine that started again answers with a Report, and SNMP4J asks again in its time.
        OctetString engine = new OctetString(snmp.discoverAuthoritativeEngineID(GenericAddress.parse(address), 5000));
        for (String user : new String[] {"noc", "plain"}) {
            usm.getTimeTable().removeEntry(engine);
            usm.getTimeTable().addEntry(new UsmTimeEntry(engine, 1, 1));
            ask("a restart, " + user, target(user, user.equals("noc") ? SecurityLevel.AUTH_PRIV : SecurityLevel.AUTH_NOPRIV), new ScopedPDU(), args);
        }
        snmp.close();
    }

    static UserTarget<Address> target(String user, int level) {
        UserTarget<Address> t = new UserTarget<>(GenericAddress.parse(address), new OctetString(user), new byte[0], level);
        t.setVersion(SnmpConstants.version3);
        return t;
    }

    static void ask(String what, Target<Address> target, PDU pdu, String[] args) throws Exception {
        target.setTimeout(5000);
        target.setRetries(1);
        target.setMaxSizeRequestPDU(65535);
        pdu.setType(PDU.GET);
        for (int i = 1; i < args.length; i++) pdu.add(new VariableBinding(new OID(args[i])));
        ResponseEvent<Address> e = snmp.send(pdu, target);
        PDU r = e == null ? null : e.getResponse();
        if (r == null) {
            System.out.println(what + ": none " + (e == null ? "" : e.getError()));
            return;
        }
        String first = r.size() == 0 ? "" : " " + r.get(0).getOid();
        System.out.println(what + ": " + PDU.getTypeString(r.getType()) + " " + r.getErrorStatusText() + " " + r.size() + " variables, request-id "
            + (r.getRequestID().equals(pdu.getRequestID()) ? "of the request" : r.getRequestID().toString()) + (r.getType() == PDU.REPORT ? first : ""));
    }
}
