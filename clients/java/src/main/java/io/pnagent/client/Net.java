// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** A net of places, transitions and arcs. Rows are in the order in which they are added. */
public final class Net {
    private static final String TYPE = "http://www.pnml.org/version-2009/grammar/ptnet";
    private static final String SPACE = "http://www.pnml.org/version-2009/grammar/pnml";

    final String id;
    final Map<String, Integer> places = new LinkedHashMap<>();
    final Map<String, Integer> transitions = new LinkedHashMap<>();
    final Map<String, Map<String, Integer>> inputs = new LinkedHashMap<>();
    final Map<String, Map<String, Integer>> outputs = new LinkedHashMap<>();
    private final List<String> elements = new ArrayList<>();
    private final String name;
    private byte[] text;

    public Net(String id) {
        this(id, "");
    }

    public Net(String id, String name) {
        this.id = id;
        this.name = name;
    }

    /** Reads the first net of a PNML file, which is published byte for byte. */
    public static Net read(Path path) throws IOException {
        return parse(Files.readAllBytes(path));
    }

    /** Reads the first net of a PNML text. Reference nodes are not supported. */
    public static Net parse(byte[] pnml) throws IOException {
        Element root = (Element) document(pnml).getElementsByTagNameNS("*", "net").item(0);
        if (root == null) {
            throw new IOException("no <net> in the PNML");
        }
        Net net = new Net(root.getAttribute("id"));
        List<Element> arcs = new ArrayList<>();
        NodeList all = root.getElementsByTagNameNS("*", "*");
        for (int i = 0; i < all.getLength(); i++) {
            Element element = (Element) all.item(i);
            String kind = element.getLocalName();
            if (kind.equals("place")) {
                net.place(element.getAttribute("id"));
            } else if (kind.equals("transition")) {
                net.transition(element.getAttribute("id"));
            } else if (kind.equals("arc")) {
                arcs.add(element);
            } else if (kind.startsWith("reference")) {
                throw new IOException("reference nodes are not supported; write the net without pages");
            }
        }
        for (Element arc : arcs) {
            Element inscription = (Element) arc.getElementsByTagNameNS("*", "inscription").item(0);
            NodeList weight = inscription == null ? null : inscription.getElementsByTagNameNS("*", "text");
            net.arc(arc.getAttribute("source"), arc.getAttribute("target"),
                weight == null || weight.getLength() == 0 ? 1 : Integer.parseInt(weight.item(0).getTextContent().trim()));
        }
        net.text = pnml.clone();
        return net;
    }

    private static Document document(byte[] pnml) throws IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setNamespaceAware(true);
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            return factory.newDocumentBuilder().parse(new ByteArrayInputStream(pnml));
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("invalid PNML: " + e.getMessage(), e);
        }
    }

    /** Adds a place. */
    public Net place(String id) {
        return place(id, "");
    }

    /** Adds a place with a name. */
    public Net place(String id, String name) {
        add(places, "place", id, name);
        return this;
    }

    /** Adds a transition. */
    public Net transition(String id) {
        return transition(id, "");
    }

    /** Adds a transition with a name. */
    public Net transition(String id, String name) {
        add(transitions, "transition", id, name);
        inputs.put(id, new LinkedHashMap<>());
        outputs.put(id, new LinkedHashMap<>());
        return this;
    }

    /** Adds an arc that takes or puts one token. */
    public Net arc(String source, String target) {
        return arc(source, target, 1);
    }

    /** Adds an arc between a place and a transition. The transition takes or puts weight tokens. */
    public Net arc(String source, String target, int weight) {
        boolean in = places.containsKey(source) && transitions.containsKey(target);
        if (!in && !(transitions.containsKey(source) && places.containsKey(target))) {
            throw new IllegalArgumentException("an arc from \"" + source + "\" to \"" + target + "\"; expected a place and a transition");
        }
        append("<arc id=\"a" + elements.size() + "\" source=\"" + escaped(source) + "\" target=\"" + escaped(target)
            + "\"><inscription><text>" + weight + "</text></inscription></arc>");
        (in ? inputs.get(target) : outputs.get(source)).merge(in ? source : target, weight, Integer::sum);
        return this;
    }

    private void add(Map<String, Integer> rows, String kind, String id, String name) {
        if (id.isEmpty() || places.containsKey(id) || transitions.containsKey(id)) {
            throw new IllegalArgumentException("the id \"" + id + "\" of a " + kind + " is empty or taken");
        }
        append("<" + kind + " id=\"" + escaped(id) + "\">" + named(name) + "</" + kind + ">");
        rows.put(id, rows.size());
    }

    private void append(String element) {
        if (text != null) {
            throw new IllegalStateException("the net is published already, or was read from a file");
        }
        elements.add(element);
    }

    /** Returns the definition, which does not change any more. */
    public byte[] pnml() {
        if (text == null) {
            String all = "<pnml xmlns=\"" + SPACE + "\"><net id=\"" + escaped(id) + "\" type=\"" + TYPE + "\">" + named(name) + "<page id=\"page\">\n"
                + String.join("\n", elements) + "\n</page></net></pnml>\n";
            text = all.getBytes(StandardCharsets.UTF_8);
        }
        return text.clone();
    }

    /** Returns the digest by which messages name the definition. */
    public String digest() {
        try {
            return Wire.hex(MessageDigest.getInstance("SHA-256").digest(pnml())).substring(0, 32);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // each Java has it
        }
    }

    private static String named(String name) {
        return name.isEmpty() ? "" : "<name><text>" + escaped(name) + "</text></name>";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;")
            .replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;");
    }
}
