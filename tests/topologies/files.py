"""Small topologies, written for these tests."""

GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="Latitude" attr.type="double" for="node" id="d0" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d1" />
  <key attr.name="label" attr.type="string" for="node" id="d2" />
  <key attr.name="hyperedge" attr.type="int" for="node" id="d3" />
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d4" />
  <key attr.name="LinkLabel" attr.type="string" for="edge" id="d5" />
  <key attr.name="Network" attr.type="string" for="graph" id="d6" />
  <graph edgedefault="{direction}">
    <data key="d6">{title}</data>
{content}
  </graph>
</graphml>
"""


def node(key: str, *, at: tuple[object, object] | None = None, label: str = "", hub: bool = False) -> str:
    data = f'<data key="d0">{at[0]}</data><data key="d1">{at[1]}</data>' if at else ""
    data += f'<data key="d2">{label}</data>' if label else ""
    data += '<data key="d3">1</data>' if hub else ""
    return f'    <node id="{key}">{data}</node>'


def edge(source: str, target: str, *, raw: str = "", label: str = "") -> str:
    data = f'<data key="d4">{raw}</data>' if raw else ""
    data += f'<data key="d5">{label}</data>' if label else ""
    return f'    <edge source="{source}" target="{target}">{data}</edge>'


def graphml(*content: str, title: str = "Small", direction: str = "undirected") -> str:
    return GRAPHML.format(content="\n".join(content), title=title, direction=direction)


EQUATOR = graphml(
    node("0", at=(0, 0), label="Null Island"),
    node("1", at=(0, 10), label="Porto"),
    node("2", at=(0, 20), label="S\u00e3o Paulo"),
    node("3", at=(0, 30), label="S\u00e3o Paulo"),
    edge("0", "1", raw="10000000000.0", label="OC-192"),
    edge("1", "2", label="2.5 Gbps"),
    edge("1", "2", label="2.5 Gbps"),
    edge("2", "3", label="dark fibre"),
)
"""Sites on the equator, where a degree is a 360th of the circumference."""

NATIVE = """?SNDlib native format; type: network; version: 1.0
# network trio

NODES (
  Berlin ( 13.40 52.52 )
  Hamburg ( 9.99 53.55 )
  Munich ( 11.58 48.14 )
)

LINKS (
  # NAME ( SOURCE TARGET ) capacity cost routing setup ( {module cost}* )
  L1 ( Berlin Hamburg ) 622.00 0.00 0.00 0.00 ( )
  L2 ( Berlin Munich ) 0.00 0.00 0.00 156.00 ( 155.00 156.00 622.00 468.00 )
  L3 ( Hamburg Munich ) 0.00 0.00 0.00 0.00 ( UNLIMITED 0.0 )
)

DEMANDS (
  D1 ( Berlin Munich ) 1 50.00 UNLIMITED
  D2 ( Munich Hamburg ) 1 0.00 UNLIMITED
)

ADMISSIBLE_PATHS (
)
"""

XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="Berlin"><coordinates><x>13.40</x><y>52.52</y></coordinates></node>
   <node id="Hamburg"><coordinates><x>9.99</x><y>53.55</y></coordinates></node>
   <node id="Munich"><coordinates><x>11.58</x><y>48.14</y></coordinates></node>
  </nodes>
  <links>
   <link id="L1"><source>Berlin</source><target>Hamburg</target>
    <preInstalledModule><capacity>622.00</capacity><cost>0.00</cost></preInstalledModule></link>
   <link id="L2"><source>Berlin</source><target>Munich</target>
    <additionalModules>
     <addModule><capacity>155.00</capacity><cost>156.00</cost></addModule>
     <addModule><capacity>622.00</capacity><cost>468.00</cost></addModule>
    </additionalModules></link>
   <link id="L3"><source>Hamburg</source><target>Munich</target></link>
  </links>
 </networkStructure>
 <demands>
  <demand id="D1"><source>Berlin</source><target>Munich</target><demandValue>50.00</demandValue></demand>
  <demand id="D2"><source>Munich</source><target>Hamburg</target><demandValue>0.00</demandValue></demand>
 </demands>
</network>
"""
